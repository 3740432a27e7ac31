/** One emulated user: draws a request, waits for its page, looks at it, and goes on. */
import type { Client, Operation, Session } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { seededAt } from '../../demo/shared/random.ts';
import { pause } from '../../demo/tickets/pause.ts';
import { drawnFrom, type CaseStudy, type Mix, type Request, type Store } from './case-study.ts';
import type { SiteDoor } from './deployment.ts';
import type { Site } from './sites.ts';

/** A request that has come to an end. */
export interface Interaction {
  /** Where the user is. */
  readonly site: Site;
  readonly request: string;
  readonly ms: number;
  /** Operations that it asked for, and how many of them were updates, and red. */
  readonly operations: number;
  readonly updates: number;
  readonly red: number;
  /** The code of the error that it ended with, if any. */
  readonly failure: string | undefined;
}

interface Asked {
  operations: number;
  updates: number;
  red: number;
}

/** The store beside a user, which counts what is asked of it. */
export class CountingStore implements Store {
  asked: Asked = { operations: 0, updates: 0, red: 0 };
  readonly #client: Client<RedBlueLevels>;
  readonly #session: Session | undefined;

  /** @param session in which all is asked; none unless given */
  constructor(client: Client<RedBlueLevels>, session?: Session) {
    this.#client = client;
    this.#session = session;
  }

  async ask<T>(operation: Operation<T>): Promise<T> {
    const isUpdate = operation.access === 'write';
    this.asked.operations += 1;
    if (isUpdate) this.asked.updates += 1;
    const session = this.#session;
    // One view of each: previews of red updates are not used here, and blue ones have none.
    const result = isUpdate
      ? this.#client.invoke(operation, { levels: ['strong'], session })
      : this.#client.invoke(operation, { levels: ['causal'], session });
    let level = '';
    result.onFinal((_, view) => (level = view.level));
    const value = await result;
    if (isUpdate && level === 'strong') this.asked.red += 1;
    return value;
  }
}

export interface UserOptions {
  readonly study: CaseStudy;
  readonly scale: number;
  readonly mix: Mix;
  /** The share of the study's time between two requests that users take; 0 for none. */
  readonly think: number;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly onInteraction: (interaction: Interaction) => void;
}

/**
 * Runs the user with this number until `signal` aborts; the request under way then still comes to
 * its end.
 */
export async function runUser(
  user: number,
  { site, client, awayMs }: SiteDoor,
  options: UserOptions,
): Promise<void> {
  const { study, scale, mix, think, signal, onInteraction } = options;
  const random = seededAt(options.seed, user);
  const store = new CountingStore(client);
  const requests = study.enter({ store, random, scale, user });
  const next = study.follow?.(mix, random) ?? (() => drawnFrom(mix, random));
  const look = async (): Promise<void> => {
    const ms = study.thinkMs(random) * think;
    if (ms > 0) await pause(ms, signal);
  };
  // Not all at once.
  await look();
  while (!signal.aborted) {
    const request = next();
    store.asked = { operations: 0, updates: 0, red: 0 };
    const from = performance.now();
    // A click and its page travel once, whatever the application asks of the store, which is beside
    // it.
    if (awayMs > 0) await pause(awayMs);
    const failure = await failureOf(
      requests[request] ?? (() => Promise.reject(new Error(`no request '${request}'`))),
    );
    onInteraction({ site, request, ms: performance.now() - from, ...store.asked, failure });
    await look();
  }
}

async function failureOf(request: Request): Promise<string | undefined> {
  try {
    await request();
    return undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code);
    throw error;
  }
}
