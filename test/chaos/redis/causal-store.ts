/** The causal store behind several gateways, each a binding with connections of its own. */
import { get, getMany, put, remove } from '../../../src/operations/index.ts';
import {
  createClient,
  isCorrectableError,
  type Binding,
  type Client,
  type Session,
} from '../../../src/index.ts';
import type { SiteIndex, WriteOutcome } from './history.ts';
import type { StormSession, StormStore } from './stores.ts';

type Levels = readonly ['causal', 'latest'];

export interface StormGateway {
  readonly site: SiteIndex;
  open(): Binding<Levels>;
}

/** Codes with which a write was not executed. */
const REFUSED: readonly string[] = ['UNAVAILABLE', 'REPLICA_BEHIND', 'OVERLOADED'];
/** Codes with which a write may have been executed. */
const UNKNOWN: readonly string[] = ['UNKNOWN'];

export class CausalStore implements StormStore {
  readonly #gateways: readonly StormGateway[];
  readonly #clients: Client<Levels>[];

  constructor(gateways: readonly StormGateway[]) {
    this.#gateways = gateways;
    this.#clients = gateways.map((gateway) => createClient(gateway.open()));
  }

  get gateways(): readonly SiteIndex[] {
    return this.#gateways.map(({ site }) => site);
  }

  openSession(gateway: number): StormSession {
    return this.#continueSession(gateway, []);
  }

  /** Ends a gateway with all that it knows, and starts another one in its place. */
  async restart(gateway: number): Promise<void> {
    const client = this.#clients[gateway] as Client<Levels>;
    this.#clients[gateway] = createClient((this.#gateways[gateway] as StormGateway).open());
    await client.close();
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  #continueSession(gateway: number, tokens: readonly string[]): StormSession {
    let client = this.#clients[gateway] as Client<Levels>;
    let session = client.session({ tokens });
    /** A gateway that was restarted knows the session by its tokens only. */
    const current = (): { readonly client: Client<Levels>; readonly session: Session } => {
      const present = this.#clients[gateway] as Client<Levels>;
      if (present !== client)
        [client, session] = [present, present.session({ tokens: session.tokens })];
      return { client, session };
    };
    return {
      gateway,
      site: (this.#gateways[gateway] as StormGateway).site,
      async write({ key, id, isRemoval }) {
        const { client: writer, session: own } = current();
        const written = writer.invoke(isRemoval ? remove(key) : put(key, id), { session: own });
        try {
          let stamp: number | undefined;
          for await (const { version } of written) stamp = version as number;
          return { outcome: 'acknowledged', stamp };
        } catch (error) {
          return { stamp: undefined, ...describeFailure(error) };
        }
      },
      async read(keys, isLatest) {
        const { client: reader, session: own } = current();
        const isMany = keys.length > 1;
        const operation = isMany ? getMany(keys as [string, ...string[]]) : get(keys[0] as string);
        const how = { session: own, levels: [isLatest ? 'latest' : 'causal'] as const };
        try {
          let result: { readonly value: unknown; readonly version?: unknown } | undefined;
          for await (const view of reader.invoke(operation as ReturnType<typeof get>, how))
            result = view;
          const ids = (isMany ? result?.value : [result?.value]) as (string | undefined)[];
          return { ids, stamp: isMany ? undefined : (result?.version as number | undefined) };
        } catch (error) {
          return describeFailure(error).code;
        }
      },
      move: (to) => this.#continueSession(to, current().session.tokens),
    };
  }
}

/** @throws what is no refusal */
function describeFailure(error: unknown): {
  readonly outcome: WriteOutcome;
  readonly code: string;
} {
  if (!isCorrectableError(error)) throw error;
  if (REFUSED.includes(error.code)) return { outcome: 'refused', code: error.code };
  if (UNKNOWN.includes(error.code)) return { outcome: 'unknown', code: error.code };
  throw error;
}
