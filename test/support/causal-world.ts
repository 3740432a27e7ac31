/**
 * Sites of a causal store whose calls take no time. Each test decides what runs and which time the
 * clocks show.
 */
import { CausalSite, type CausalAlarm } from '../../src/causal/causal-site.ts';
import { DEFAULT_LIMITS, type CausalLimits } from '../../src/causal/limits.ts';
import type {
  CallName,
  PartitionAddress,
  PartitionCalls,
  PartitionPort,
  Refusal,
  SiteView,
} from '../../src/causal/partition-calls.ts';
import { Partition } from '../../src/causal/partition.ts';
import { CausalSession } from '../../src/causal/session.ts';
import { createZeroVector, type Stamp } from '../../src/causal/stamps.ts';
import { isAbsentAt } from '../../src/causal/version.ts';

export interface CausalWorldOptions {
  readonly siteCount?: number;
  readonly partitionCount?: number;
  readonly limits?: Partial<CausalLimits>;
  /** The class of the partitions, which may contain a fault on purpose. */
  readonly Partition?: typeof Partition;
}

/** One key for each of the two partitions. */
export const KEYS = ['a', 'b'] as const;

export class CausalWorld {
  now: Stamp = 1_000_000;
  /** How far the clock of each partition is ahead. The keys are `site partition`. */
  readonly offsets = new Map<string, Stamp>();
  readonly unreachable = new Set<string>();
  /** Replies to these calls arrive when `releaseReplies` is called. */
  delayedCall: CallName | undefined;
  readonly alarms: CausalAlarm[] = [];
  readonly partitions: Partition[][];
  readonly sites: CausalSite[];
  /** Creates one more gateway of a site. */
  readonly createSite: (site: number) => CausalSite;
  readonly #siteCount: number;
  readonly #delayedReplies: (() => void)[] = [];
  #writes = 0;

  constructor({
    siteCount = 2,
    partitionCount = 2,
    limits,
    Partition: Type = Partition,
  }: CausalWorldOptions = {}) {
    this.#siteCount = siteCount;
    const shared = { siteCount, partitionCount, limits: { ...DEFAULT_LIMITS, ...limits } };
    const each = <T>(count: number, create: (index: number) => T): T[] =>
      Array.from({ length: count }, (_, index) => create(index));
    this.partitions = each(siteCount, (site) =>
      each(partitionCount, () => new Type({ ...shared, site })),
    );
    const port: PartitionPort = {
      call: (address, name, request, onReply) => {
        const reply = this.call(address, name, request);
        if (name === this.delayedCall) this.#delayedReplies.push(() => onReply(reply));
        else onReply(reply);
      },
      getSiteView: (site, onReply) => onReply((this.sites[site] as CausalSite).getView()),
    };
    this.createSite = (site) =>
      new CausalSite({
        ...shared,
        site,
        port,
        getTime: () => ({ elapsed: this.now, wall: this.now }),
        onAlarm: (alarm) => this.alarms.push(alarm),
      });
    this.sites = each(siteCount, this.createSite);
  }

  /** Starts the gateway of a site again, with an empty memory. */
  restart(site: number, published: SiteView | undefined): void {
    this.sites[site] = this.createSite(site);
    this.site(site).start(published);
  }

  partition(site: number, partition: number): Partition {
    return this.partitions[site]?.[partition] as Partition;
  }

  site(site: number): CausalSite {
    return this.sites[site] as CausalSite;
  }

  call<N extends CallName>(
    { site, partition }: PartitionAddress,
    name: N,
    request: PartitionCalls[N]['request'],
  ): PartitionCalls[N]['reply'] | Refusal {
    const place = `${site} ${partition}`;
    if (this.unreachable.has(place)) return { refused: 'UNREACHABLE' };
    const now = this.now + (this.offsets.get(place) ?? 0);
    return this.partition(site, partition).execute(name, request, now);
  }

  openSession(): CausalSession {
    return new CausalSession(createZeroVector(this.#siteCount));
  }

  releaseReplies(): void {
    for (const release of this.#delayedReplies.splice(0)) release();
  }

  /** Returns the stamp of the write, or why it was refused. */
  put(
    site: number,
    key: string,
    value: unknown,
    { session = this.openSession(), ttl = 0, id = `w${this.#writes++}` }: PutOptions = {},
  ): Stamp | string {
    let outcome: Stamp | string = 'pending';
    const write = {
      key,
      kind: value === undefined ? 'tombstone' : 'value',
      value,
      ttl,
      id,
    } as const;
    this.site(site).put(session, write, (result) => {
      outcome = 'stamp' in result ? result.stamp : result.refused;
    });
    return outcome;
  }

  /** Returns the values, or why the read was refused. */
  read(
    site: number,
    keys: readonly string[],
    session = this.openSession(),
  ): readonly unknown[] | string {
    return this.#read(site, (onEnd) =>
      this.site(site).read(session, { keys, source: 'gateway' }, onEnd),
    );
  }

  readLatest(
    site: number,
    keys: readonly string[],
    session = this.openSession(),
  ): readonly unknown[] | string {
    return this.#read(site, (onEnd) => this.site(site).readLatest(session, keys, onEnd));
  }

  /** Some rounds of background work at all sites: what was written is then everywhere. */
  settle(rounds = 4): void {
    for (let round = 0; round < rounds; round += 1) {
      this.now += 20_000;
      for (const site of this.sites) {
        site.replicate();
        site.poll();
      }
    }
  }

  #read(
    site: number,
    start: (onEnd: Parameters<CausalSite['readLatest']>[2]) => void,
  ): readonly unknown[] | string {
    let outcome: readonly unknown[] | string = 'pending';
    start((result) => {
      if ('refused' in result) outcome = result.refused;
      else {
        const now = result.snapshot[site] as Stamp;
        outcome = result.versions.map((version) =>
          version && !isAbsentAt(version, now) ? version.value : undefined,
        );
      }
    });
    return outcome;
  }
}

interface PutOptions {
  readonly session?: CausalSession;
  readonly ttl?: Stamp;
  readonly id?: string;
}
