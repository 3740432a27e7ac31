/** CC-LO in a queueing network: partitions at each site, and clients with one session each. */
import { findPartition } from '../../../src/causal/partition-of-key.ts';
import {
  toReadId,
  type CcloCallName,
  type CcloCalls,
  type Dependency,
  type SentVersion,
} from './cclo-calls.ts';
import { CcloPartition } from './cclo-partition.ts';
import type { Place, Purpose, ServerPlace } from './queueing-network.ts';
import type { Placed, StoreClient, System, SystemOptions } from './store-client.ts';

export class CcloSystem implements System {
  readonly #options: SystemOptions;
  readonly #sites: readonly (readonly CcloPartition[])[];
  #clients = 0;
  /** Always 0, because no read of CC-LO waits. */
  readonly blockedReads = 0;

  constructor(options: SystemOptions, Partition: typeof CcloPartition = CcloPartition) {
    this.#options = options;
    const { siteCount, partitionCount } = options;
    this.#sites = Array.from({ length: siteCount }, (_, site) =>
      Array.from(
        { length: partitionCount },
        (_, partition) =>
          new Partition({
            ...options,
            site,
            partition,
            port: {
              call: (to, name, request, onReply) =>
                this.call(
                  { from: { site, partition }, to, name, request, purpose: 'put' },
                  onReply,
                ),
            },
            getTime: () => options.network.now,
          }),
      ),
    );
  }

  createClient(site: number): StoreClient {
    this.#clients += 1;
    return new CcloClient(this, {
      client: this.#clients,
      site,
      partitionCount: this.#options.partitionCount,
    });
  }

  maintain(): void {}

  call<N extends CcloCallName>(
    {
      from,
      to,
      name,
      request,
      purpose,
    }: {
      readonly from: Place;
      readonly to: ServerPlace;
      readonly name: N;
      readonly request: CcloCalls[N]['request'];
      readonly purpose: Purpose;
    },
    onReply: (reply: CcloCalls[N]['reply']) => void,
  ): void {
    this.#options.network.call<CcloCalls[N]['reply']>({
      from,
      to,
      kind: name,
      purpose,
      request,
      prepare: () => this.#sites[to.site]?.[to.partition]?.prepare(request),
      execute: (reply) => this.#sites[to.site]?.[to.partition]?.execute(name, request, reply),
      onReply,
    });
  }
}

interface ClientOptions {
  readonly client: number;
  readonly site: number;
  readonly partitionCount: number;
}

class CcloClient implements StoreClient {
  readonly #system: CcloSystem;
  readonly #options: ClientOptions;
  /** The dependencies of the next put: the last put, and the versions that were read since. */
  #dependencies = new Map<string, Dependency>();
  #reads = 0;
  #clock = 0;

  constructor(system: CcloSystem, options: ClientOptions) {
    this.#system = system;
    this.#options = options;
  }

  read(
    keys: readonly string[],
    onEnd: (versions: readonly (SentVersion | undefined)[]) => void,
  ): void {
    const { client, partitionCount } = this.#options;
    this.#reads += 1;
    const reader = toReadId(client, this.#reads);
    const groups = new Map<number, number[]>();
    for (const [place, key] of keys.entries()) {
      const partition = findPartition(key, partitionCount);
      groups.set(partition, [...(groups.get(partition) ?? []), place]);
    }
    const versions: (SentVersion | undefined)[] = keys.map(() => undefined);
    let open = groups.size;
    for (const [partition, places] of groups) {
      const group = places.map((place) => keys[place] as string);
      const request = { reader, keys: group, clock: this.#clock };
      this.#call(partition, 'read', request, (reply) => {
        this.#clock = Math.max(this.#clock, reply.clock);
        for (const [at, place] of places.entries()) versions[place] = reply.versions[at];
        open -= 1;
        if (open > 0) return;
        for (const [place, key] of keys.entries()) this.#noteDependency(key, versions[place]);
        onEnd(versions);
      });
    }
  }

  put(key: string, value: string, onEnd: (place: Placed) => void): void {
    const { site, partitionCount } = this.#options;
    const dependencies = [...this.#dependencies.values()];
    const request = { key, value, dependencies, clock: this.#clock };
    this.#call(findPartition(key, partitionCount), 'put', request, (reply) => {
      this.#clock = Math.max(this.#clock, reply.clock);
      const place = { stamp: reply.stamp, site };
      this.#dependencies = new Map([['', { key, ...place }]]);
      onEnd(place);
    });
  }

  #call<N extends 'read' | 'put'>(
    partition: number,
    name: N,
    request: CcloCalls[N]['request'],
    onReply: (reply: CcloCalls[N]['reply']) => void,
  ): void {
    const { site } = this.#options;
    this.#system.call(
      { from: { site }, to: { site, partition }, name, request, purpose: name },
      onReply,
    );
  }

  /** Keeps all versions of a key that were read: a newer one need not depend on an older one. */
  #noteDependency(key: string, version: SentVersion | undefined): void {
    if (version === undefined) return;
    const { stamp, site } = version;
    this.#dependencies.set(`${key} ${stamp} ${site}`, { key, stamp, site });
  }
}
