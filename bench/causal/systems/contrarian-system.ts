/**
 * The causal store of `src/causal` in a queueing network: its partitions, and one gateway at each
 * site.
 */
import { CausalSite } from '../../../src/causal/causal-site.ts';
import { DEFAULT_LIMITS } from '../../../src/causal/limits.ts';
import {
  isRefusal,
  type CallName,
  type PartitionAddress,
  type PartitionCalls,
  type PartitionPort,
  type Refusal,
} from '../../../src/causal/partition-calls.ts';
import { Partition } from '../../../src/causal/partition.ts';
import type { SnapshotSource } from '../../../src/causal/read-transaction.ts';
import { CausalSession } from '../../../src/causal/session.ts';
import { createZeroVector, type Stamp } from '../../../src/causal/stamps.ts';
import type { Version } from '../../../src/causal/version.ts';
import type { ReadVersion } from '../../../src/testing/simulator/checkers/frontier-checker.ts';
import type { Purpose } from './queueing-network.ts';
import {
  INITIAL,
  type Placed,
  type StoreClient,
  type System,
  type SystemOptions,
} from './store-client.ts';

export interface ContrarianOptions extends SystemOptions {
  /**
   * The source of a snapshot's own stamp: `gateway` for reads of one round, `coordinator` for the
   * paper's two rounds.
   */
  readonly source: SnapshotSource;
  /** Returns how far the clock of a server is ahead. */
  readonly getClockOffset: (address: PartitionAddress) => Stamp;
  /** Repeats an operation that was refused. */
  readonly retry: (run: () => void) => void;
}

const PURPOSE: Partial<Readonly<Record<CallName, Purpose>>> = {
  put: 'put',
  read: 'read',
  snapshot: 'read',
};

export class ContrarianSystem implements System {
  readonly #options: ContrarianOptions;
  readonly #partitions: readonly (readonly Partition[])[];
  readonly #gateways: readonly CausalSite[];
  readonly #initial: Version | undefined;
  #clients = 0;
  blockedReads = 0;

  constructor(options: ContrarianOptions) {
    this.#options = options;
    const { siteCount, partitionCount, network, initialValue } = options;
    const sites = Array.from({ length: siteCount }, (_, site) => site);
    this.#partitions = sites.map((site) =>
      Array.from(
        { length: partitionCount },
        () => new Partition({ site, siteCount, limits: DEFAULT_LIMITS }),
      ),
    );
    this.#gateways = sites.map(
      (site) =>
        new CausalSite({
          site,
          siteCount,
          partitionCount,
          limits: DEFAULT_LIMITS,
          port: this.#createPort(site),
          getTime: () => ({ elapsed: network.now, wall: network.now }),
          onAlarm: ({ code }) => {
            throw new Error(`alarm ${code} in a run without faults`);
          },
        }),
    );
    if (initialValue === undefined) return;
    const dependencies = createZeroVector(siteCount);
    this.#initial = { ...INITIAL, kind: 'value', expiresAt: 0, dependencies, value: initialValue };
  }

  createClient(site: number): StoreClient {
    this.#clients += 1;
    return new ContrarianClient(this, { client: this.#clients, site, ...this.#options });
  }

  getGateway(site: number): CausalSite {
    return this.#gateways[site] as CausalSite;
  }

  maintain(): void {
    for (const gateway of this.#gateways) {
      gateway.poll();
      if (this.#gateways.length > 1) gateway.replicate();
    }
  }

  noteBlockedRead(): void {
    this.blockedReads += 1;
  }

  #createPort(from: number): PartitionPort {
    const { network } = this.#options;
    return {
      call: (to, name, request, onReply) =>
        network.call({
          from: { site: from },
          to,
          kind: name,
          purpose: PURPOSE[name] ?? 'background',
          request,
          prepare: () => this.#prepare(to, request),
          execute: (reply) => reply(this.#execute(to, name, request)),
          onReply,
        }),
      getSiteView: () => {
        throw new Error('no read at `latest` runs here');
      },
    };
  }

  #execute<N extends CallName>(
    address: PartitionAddress,
    name: N,
    request: PartitionCalls[N]['request'],
  ): PartitionCalls[N]['reply'] | Refusal {
    const { network, getClockOffset } = this.#options;
    return this.#getPartition(address).execute(
      name,
      request,
      network.now + getClockOffset(address),
    );
  }

  #prepare(address: PartitionAddress, request: object): void {
    if (this.#initial !== undefined)
      loadInitial(this.#getPartition(address), request, this.#initial);
  }

  #getPartition({ site, partition }: PartitionAddress): Partition {
    return this.#partitions[site]?.[partition] as Partition;
  }
}

/** Installs the initial value of each key when it is needed. */
function loadInitial({ state: { chains } }: Partition, request: object, initial: Version): void {
  const { key, keys, entries } = request as {
    readonly key?: string;
    readonly keys?: readonly string[];
    readonly entries?: PartitionCalls['apply']['request']['entries'];
  };
  const written = entries?.flatMap(({ write }) => write?.key ?? []);
  for (const name of keys ?? written ?? (key === undefined ? [] : [key]))
    if (!chains.has(name)) chains.set(name, [initial]);
}

interface ClientOptions extends ContrarianOptions {
  readonly client: number;
  readonly site: number;
}

class ContrarianClient implements StoreClient {
  readonly #system: ContrarianSystem;
  readonly #options: ClientOptions;
  readonly #session: CausalSession;
  #writes = 0;

  constructor(system: ContrarianSystem, options: ClientOptions) {
    this.#system = system;
    this.#options = options;
    this.#session = new CausalSession(createZeroVector(options.siteCount));
  }

  read(
    keys: readonly string[],
    onEnd: (versions: readonly (ReadVersion | undefined)[]) => void,
  ): void {
    const { site, source, retry } = this.#options;
    this.#system.getGateway(site).read(this.#session, { keys, source }, (result) => {
      if ('versions' in result) return onEnd(result.versions);
      this.#system.noteBlockedRead();
      retry(() => this.read(keys, onEnd));
    });
  }

  put(key: string, value: string, onEnd: (place: Placed) => void): void {
    const { client } = this.#options;
    this.#writes += 1;
    this.#put({ key, kind: 'value', value, ttl: 0, id: `${client}.${this.#writes}` }, onEnd);
  }

  #put(write: Parameters<CausalSite['put']>[1], onEnd: (place: Placed) => void): void {
    const { site, retry } = this.#options;
    this.#system.getGateway(site).put(this.#session, write, (result) => {
      if (isRefusal(result)) retry(() => this.#put(write, onEnd));
      else onEnd({ stamp: (result as { readonly stamp: Stamp }).stamp, site });
    });
  }
}
