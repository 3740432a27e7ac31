/**
 * Random lists of calls of one partition, with what the pure form answers. The partitions of the
 * other sites are there too, so that entries and chains are such as real ones.
 */
import { DEFAULT_LIMITS, type CausalLimits } from '../../../../src/causal/limits.ts';
import {
  isRefusal,
  type CallName,
  type Cursor,
  type PartitionCalls,
  type PullReply,
  type PutRequest,
} from '../../../../src/causal/partition-calls.ts';
import {
  copyPartitionState,
  createPartitionState,
} from '../../../../src/causal/partition-state.ts';
import { Partition } from '../../../../src/causal/partition.ts';
import type { SiteIndex, Stamp, Vector } from '../../../../src/causal/stamps.ts';
import type { Random } from '../../../../src/server/service/collections/random.ts';
import { describePartition, type PlainState } from './plain-state.ts';

export interface ModelSettings {
  readonly site: SiteIndex;
  readonly siteCount: number;
  readonly limits: CausalLimits;
}

export type ModelStep =
  | {
      readonly kind: 'call';
      readonly name: CallName;
      readonly request: PartitionCalls[CallName]['request'];
      readonly now: Stamp;
      readonly reply: object;
    }
  /** The partition is copied, set back to the copy, or lost. */
  | { readonly kind: 'backup' | 'restore' | 'lose' }
  | { readonly kind: 'compare'; readonly state: PlainState };

/** Limits that are reached within a list. Each of them costs a set of scripts on the server. */
export const MODEL_LIMITS: readonly [CausalLimits, ...CausalLimits[]] = [
  DEFAULT_LIMITS,
  limit({
    maxVersions: 3,
    maxVersionBytes: 150,
    keepVersionsFor: 0,
    keepIdsFor: 5_000,
    keepTombstonesFor: 20_000,
  }),
  limit({
    maxOwnEntries: 5,
    keepVersionsFor: 2_000,
    keepIdsFor: 10_000,
    keepTombstonesFor: 5_000_000,
  }),
  limit({
    maxOwnEntryBytes: 1_500,
    maxVersions: 1,
    keepVersionsFor: 500,
    keepIdsFor: 0,
    keepTombstonesFor: 0,
  }),
];

function limit(limits: Partial<CausalLimits>): CausalLimits {
  return { ...DEFAULT_LIMITS, maxClockSkew: 3_000, requestTimeout: 5_000, ...limits };
}

/** A stamp of today: small ones would hide a loss of digits. */
const EPOCH = 1_795_854_091_540_600;
const KEYS = ['a', 'b', 'key', 'ключ', '', 'x:y'] as const;
const STEPS = 60;
const COMPARE_EVERY = 20;

export function drawSettings(random: Random): ModelSettings {
  const siteCount = random.pick([1, 2, 2, 3]);
  return { siteCount, site: random.between(0, siteCount - 1), limits: random.pick(MODEL_LIMITS) };
}

export function drawSteps(random: Random, settings: ModelSettings): readonly ModelStep[] {
  return new StepDrawer(random, settings).draw();
}

class StepDrawer {
  readonly #random: Random;
  readonly #settings: ModelSettings;
  readonly #partitions: readonly Partition[];
  readonly #own: Partition;
  readonly #steps: ModelStep[] = [];
  #backup: Partition['state'];
  #now: Stamp = EPOCH;
  #writes = 0;

  constructor(random: Random, settings: ModelSettings) {
    const { site, siteCount } = settings;
    this.#random = random;
    this.#settings = settings;
    this.#partitions = Array.from(
      { length: siteCount },
      (_, at) => new Partition({ ...settings, site: at }),
    );
    this.#own = this.#partitions[site] as Partition;
    this.#backup = createPartitionState(siteCount);
  }

  draw(): readonly ModelStep[] {
    const random = this.#random;
    const actions: readonly (readonly [weight: number, run: () => void])[] = [
      [10, () => this.#call('put', this.#drawPut())],
      [6, () => this.#call('read', this.#drawRead())],
      [1, () => this.#call('snapshot', { atLeast: this.#drawStamp() })],
      [4, () => this.#call('state', this.#drawState())],
      [4, () => this.#pull()],
      [6, () => this.#apply()],
      [1, () => this.#call('lastEntry', {})],
      [3, () => this.#merge()],
      [1, () => this.#seek()],
      [0.3, () => this.#call('suspect', {})],
      [1.5, () => this.#confirmHealed(0)],
      [0.5, () => this.#confirmHealed(1)],
      [0.5, () => this.#keepCopy()],
      [0.5, () => this.#setBack()],
      [0.1, () => this.#lose()],
      [6, () => this.#writeElsewhere()],
    ];
    const total = actions.reduce((sum, [weight]) => sum + weight, 0);
    for (let step = 1; step <= STEPS; step += 1) {
      this.#now += random.chance(0.1)
        ? random.between(-3_000, 20_000)
        : Math.floor(random.exponential(200));
      let left = random.fraction() * total;
      const action = actions.find(([weight]) => (left -= weight) <= 0) ?? actions[0];
      action?.[1]();
      if (step % COMPARE_EVERY === 0)
        this.#steps.push({ kind: 'compare', state: describePartition(this.#own) });
    }
    return this.#steps;
  }

  #call<N extends CallName>(
    name: N,
    request: PartitionCalls[N]['request'],
  ): PartitionCalls[N]['reply'] | undefined {
    const reply = this.#own.execute(name, request, this.#now);
    this.#steps.push({ kind: 'call', name, request, now: this.#now, reply });
    return isRefusal(reply) ? undefined : reply;
  }

  /** A stamp near the present, or one that matters. */
  #drawStamp(): Stamp {
    const { clock, lastOwnStamp } = this.#own.state;
    const random = this.#random;
    if (random.chance(0.02)) return this.#now + 10_000_000;
    return random.pick([
      0,
      clock,
      lastOwnStamp,
      this.#now,
      this.#now + random.between(-4_000, 2_000),
    ]);
  }

  #drawVector(): Vector {
    const { received } = this.#own.state;
    return received.map((stamp) => (this.#random.chance(0.5) ? stamp : this.#drawStamp()));
  }

  #drawFence(): { readonly siteTime: Stamp; readonly lastSeen: Stamp } {
    const random = this.#random;
    const isOff = random.chance(0.03);
    const lastSeen = random.chance(0.03)
      ? this.#now
      : random.pick([0, this.#own.state.lastOwnStamp]);
    return {
      siteTime:
        this.#now + (isOff ? random.pick([-9_000_000, 900_000]) : random.between(-500, 500)),
      lastSeen,
    };
  }

  #drawPut(): PutRequest {
    const random = this.#random;
    const kind = random.chance(0.25) ? 'tombstone' : 'value';
    const bytes = Buffer.alloc(random.pick([0, 1, 30, 120]), random.between(0, 255));
    return {
      ...this.#drawFence(),
      key: random.pick(KEYS),
      kind,
      value: kind === 'value' ? bytes : undefined,
      ttl: random.chance(0.2) ? random.pick([1, 5_000, 100_000]) : 0,
      id: random.chance(0.1) ? `w${random.between(0, this.#writes)}` : `w${(this.#writes += 1)}`,
      dependencies: this.#drawVector(),
      stable: this.#drawVector(),
    };
  }

  #drawRead(): PartitionCalls['read']['request'] {
    const random = this.#random;
    const keys = Array.from({ length: random.between(0, 4) }, () => random.pick(KEYS));
    return {
      ...this.#drawFence(),
      keys,
      snapshot: this.#drawVector(),
      acceptsMissing: random.chance(0.3),
    };
  }

  #drawState(): PartitionCalls['state']['request'] {
    return { ...this.#drawFence(), siteClock: this.#drawStamp(), stable: this.#drawVector() };
  }

  #drawOther(): SiteIndex | undefined {
    const { site, siteCount } = this.#settings;
    if (siteCount === 1) return undefined;
    return (site + this.#random.between(1, siteCount - 1)) % siteCount;
  }

  #drawCursor(cursor: Cursor | undefined): Cursor {
    const random = this.#random;
    const { entry, stamp } = cursor ?? { entry: 0, stamp: 0 };
    if (random.chance(0.85)) return { entry, stamp };
    return {
      entry: Math.max(0, entry + random.between(-2, 2)),
      stamp: random.pick([0, stamp, this.#now]),
    };
  }

  /** Another site pulls, and mostly applies what comes. */
  #pull(): void {
    const other = this.#drawOther();
    if (other === undefined) return;
    const { site } = this.#settings;
    const target = this.#partitions[other] as Partition;
    const reply = this.#call('pull', {
      requester: other,
      siteTime: this.#drawFence().siteTime,
      cursor: this.#drawCursor(target.state.cursors[site]),
      promiseHeld: this.#random.chance(0.9)
        ? (target.state.received[site] as Stamp)
        : this.#drawStamp(),
      maxEntries: this.#random.pick([1, 3, 200]),
    });
    const expectedCursor = target.state.cursors[site] as Cursor;
    if (reply === undefined || this.#random.chance(0.2)) return;
    target.execute(
      'apply',
      { ...reply, source: site, expectedCursor, stable: this.#drawVector() },
      this.#now,
    );
  }

  #apply(): void {
    const other = this.#drawOther();
    if (other === undefined) return;
    const source = this.#partitions[other] as Partition;
    const { cursors, received } = this.#own.state;
    const cursor = cursors[other] as Cursor;
    const request = { requester: this.#settings.site, siteTime: this.#now, cursor, maxEntries: 5 };
    source.execute('state', { ...this.#drawState(), lastSeen: 0, siteTime: this.#now }, this.#now);
    const pulled = source.execute(
      'pull',
      { ...request, promiseHeld: received[other] as Stamp },
      this.#now,
    );
    if (isRefusal(pulled)) return;
    const promise = this.#random.chance(0.05) ? this.#drawStamp() : (pulled as PullReply).promise;
    const expectedCursor = this.#drawCursor(cursor);
    this.#call('apply', {
      ...pulled,
      source: other,
      promise,
      expectedCursor,
      stable: this.#drawVector(),
    });
  }

  /** Chains come from another site, or from an older state of this one. */
  #merge(): void {
    const other = this.#drawOther() ?? this.#settings.site;
    const source = this.#partitions[other] as Partition;
    const reply = source.execute(
      'scan',
      { page: '', maxKeys: this.#random.pick([1, 3, 9]) },
      this.#now,
    );
    if (isRefusal(reply)) return;
    this.#call('merge', { chains: reply.chains, hasLostState: this.#random.chance(0.3) });
  }

  #seek(): void {
    const other = this.#drawOther();
    if (other === undefined) return;
    const cursor = this.#own.state.cursors[other] as Cursor;
    const { last } = (this.#partitions[other] as Partition).state.own;
    this.#call('seek', { source: other, expectedCursor: this.#drawCursor(cursor), cursor: last });
  }

  #confirmHealed(beyond: number): void {
    const suspicions = this.#own.state.suspicions + beyond;
    this.#call('confirmHealed', { suspicions, siteClock: this.#drawStamp() });
  }

  #keepCopy(): void {
    this.#backup = copyPartitionState(this.#own.state);
    this.#steps.push({ kind: 'backup' });
  }

  #setBack(): void {
    this.#own.state = copyPartitionState(this.#backup);
    this.#steps.push({ kind: 'restore' });
  }

  #lose(): void {
    this.#own.state = createPartitionState(this.#settings.siteCount);
    this.#steps.push({ kind: 'lose' });
  }

  #writeElsewhere(): void {
    const other = this.#drawOther();
    if (other === undefined) return;
    const dependencies = this.#drawVector().map((stamp) => Math.min(stamp, this.#now));
    const put = {
      ...this.#drawPut(),
      dependencies,
      siteTime: this.#now,
      lastSeen: 0,
      id: `${other} ${this.#writes}`,
    };
    this.#writes += 1;
    (this.#partitions[other] as Partition).execute('put', put, this.#now);
  }
}
