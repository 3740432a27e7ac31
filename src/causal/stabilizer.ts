/**
 * The knowledge of a gateway about its site: the global stable snapshot (GSS), the time, and which
 * partitions have lost state (CAUSAL-3, CAUSAL-8, CAUSAL-12, CAUSAL-13; Contrarian, Alg. 2, lines
 * 35–38).
 */
import type { CausalLimits } from './limits.ts';
import type { HealedState, SiteView, StateReply } from './partition-calls.ts';
import { SeenStamps } from './seen-stamps.ts';
import { SiteTime, type GatewayTime } from './site-time.ts';
import {
  createZeroVector,
  getStamp,
  maxVector,
  minVector,
  withStamp,
  type SiteIndex,
  type Stamp,
  type Vector,
} from './stamps.ts';

export interface StabilizerOptions {
  readonly site: SiteIndex;
  readonly siteCount: number;
  readonly partitionCount: number;
  readonly limits: CausalLimits;
}

/** A poll in flight, with what was known when it was sent. */
export interface PendingPoll {
  readonly partition: number;
  readonly lastSeen: Stamp;
  readonly stable: Vector;
  readonly sentAt: Stamp;
  /** If the partition is healed before the reply, the poll shows nothing (CAUSAL-14). */
  readonly healedAt: Stamp;
}

/** A partition that another gateway has healed. */
export interface HealedPartition {
  readonly partition: number;
  /** Whether own writes are lost that this gateway has seen. */
  readonly hasLost: boolean;
}

export class Stabilizer {
  readonly #site: SiteIndex;
  readonly #limits: CausalLimits;
  readonly #time: SiteTime;
  readonly #seen: readonly SeenStamps[];
  readonly #healedAt: Stamp[];
  readonly #healedTo: Stamp[];
  readonly #received: (Vector | undefined)[];
  #stable: Vector;
  #highestClock: Stamp = 0;

  constructor({ site, siteCount, partitionCount, limits }: StabilizerOptions) {
    this.#site = site;
    this.#limits = limits;
    this.#time = new SiteTime(partitionCount, limits.maxClockSkew);
    this.#seen = Array.from({ length: partitionCount }, () => new SeenStamps());
    this.#healedAt = Array.from({ length: partitionCount }, () => 0);
    this.#healedTo = Array.from({ length: partitionCount }, () => 0);
    this.#received = Array.from({ length: partitionCount }, () => undefined);
    this.#stable = createZeroVector(siteCount);
  }

  /**
   * The stable snapshot: what all partitions of the site have received. The stamp of the own site
   * in it is not used.
   */
  get stable(): Vector {
    return this.#stable;
  }

  /**
   * The highest clock of the site's partitions. Partitions with a lower clock raise theirs to it.
   */
  get highestClock(): Stamp {
    return this.#highestClock;
  }

  getSiteTime(now: GatewayTime): Stamp {
    return this.#time.at(now);
  }

  isTrusted(partition: number): boolean {
    return this.#time.isTrusted(partition);
  }

  getLastSeen(partition: number): Stamp {
    return this.#seen[partition]?.highest ?? 0;
  }

  /** When the partition was last healed, as far as the gateway knows; 0 if it never was. */
  getHealedAt(partition: number): Stamp {
    return this.#healedAt[partition] ?? 0;
  }

  getView(now: GatewayTime): SiteView {
    return {
      stable: this.#stable,
      siteTime: this.getSiteTime(now),
      lastSeen: this.#seen.map(({ highest }) => highest),
      healedAt: [...this.#healedAt],
      healedTo: [...this.#healedTo],
    };
  }

  /**
   * Takes what another gateway of the site knows. Returns the partitions that it has healed since,
   * and whether they have lost writes that this gateway has seen (CAUSAL-13, CAUSAL-14).
   */
  observeView({ stable, lastSeen, healedAt, healedTo }: SiteView): readonly HealedPartition[] {
    this.#stable = maxVector(this.#stable, withStamp(stable, this.#site, 0));
    const healed: HealedPartition[] = [];
    for (const [partition, stamp] of lastSeen.entries()) {
      const at = healedAt[partition] ?? 0;
      if (at < this.getHealedAt(partition)) continue;
      if (at > this.getHealedAt(partition)) {
        const hasLost = this.#takeHealed(partition, { at, to: healedTo[partition] ?? 0 });
        healed.push({ partition, hasLost });
      }
      this.observeOwnStamp(partition, stamp);
    }
    return healed;
  }

  /**
   * Returns the stamp of the own site for a new snapshot. It is recent, and not below any stamp of
   * the site that the gateway has seen (CAUSAL-3).
   */
  getOwnSnapshotStamp(now: GatewayTime): Stamp {
    const siteTime = this.getSiteTime(now);
    // A clock that is wrong must not move the snapshots of the site (CAUSAL-8).
    return Math.max(siteTime, Math.min(this.#highestClock, siteTime + this.#limits.maxClockSkew));
  }

  beginPoll(partition: number, { elapsed }: GatewayTime): PendingPoll {
    const { stable } = this;
    return {
      partition,
      lastSeen: this.getLastSeen(partition),
      stable,
      sentAt: elapsed,
      healedAt: this.getHealedAt(partition),
    };
  }

  /** Takes the reply of a poll. Returns whether the partition has lost state (CAUSAL-13). */
  endPoll(
    { partition, lastSeen, sentAt }: PendingPoll,
    state: StateReply,
    now: GatewayTime,
  ): boolean {
    this.#time.observeClock(partition, state.physicalClock, { sentAt, received: now });
    if (this.#hasLostState(state, lastSeen)) return true;
    this.observeOwnStamp(partition, state.lastOwnStamp);
    this.observeClock(state.clock, now);
    this.#received[partition] = state.received;
    return false;
  }

  /** Raises the stable snapshot to what all partitions have received (CAUSAL-12). */
  advance(): void {
    const stable = withStamp(this.computeStable(this.#received), this.#site, 0);
    this.#stable = maxVector(this.#stable, stable);
  }

  /**
   * Notes a stamp of an own write of the partition. If the partition reports a lower one later, it
   * has lost writes.
   */
  observeOwnStamp(partition: number, stamp: Stamp): void {
    this.#seen[partition]?.note(stamp);
  }

  /** Notes a hybrid clock of the site, unless it is too far ahead (CAUSAL-8). */
  observeClock(clock: Stamp, now: GatewayTime): void {
    if (clock > this.getSiteTime(now) + this.#limits.maxClockSkew) return;
    this.#highestClock = Math.max(this.#highestClock, clock);
  }

  /** Accepts the state of a partition after its heal. Returns whether own writes are lost. */
  acceptHealed(partition: number, { lastOwnStamp, clock }: HealedState): boolean {
    const at = Math.max(this.getHealedAt(partition) + 1, clock);
    return this.#takeHealed(partition, { at, to: lastOwnStamp });
  }

  /**
   * Takes over a heal at `at`, after which `to` was the last own stamp. Own writes after the heal
   * have stamps above `at`. Returns whether this gateway has seen a write that is lost.
   */
  #takeHealed(partition: number, { at, to }: { readonly at: Stamp; readonly to: Stamp }): boolean {
    const seen = this.#seen[partition] as SeenStamps;
    const hasLost = seen.findUpTo(at) > to;
    this.#healedAt[partition] = at;
    this.#healedTo[partition] = to;
    seen.restart(at, to);
    return hasLost;
  }

  /** CAUSAL-12: the minimum over all partitions. One that was never polled has received nothing. */
  computeStable(received: readonly (Vector | undefined)[]): Vector {
    const none = createZeroVector(this.#stable.length);
    return received.map((vector) => vector ?? none).reduce(minVector);
  }

  /**
   * CAUSAL-13: compares the reply with what was known when the poll was sent, because writes
   * continue meanwhile.
   */
  #hasLostState(state: StateReply, lastSeen: Stamp): boolean {
    return state.lastOwnStamp < lastSeen || state.suspicions > state.healedSuspicions;
  }

  /** CAUSAL-19: whether the partition is so far ahead of the site that it should stop pulling. */
  isFarAhead(received: Stamp, source: SiteIndex): boolean {
    const ahead = received - getStamp(this.#stable, source);
    return getStamp(this.#stable, source) > 0 && ahead > this.#limits.maxReceivedAhead;
  }
}
