/**
 * The gateway of one site: it puts the rules of one site together.
 *
 * It starts nothing by itself. Its owner calls `poll` and `replicate` again and again, and repeats
 * an operation that was refused for a reason that passes.
 */
import type { CausalLimits } from './limits.ts';
import {
  isRefusal,
  type PartitionAddress,
  type PartitionPort,
  type RefusalReason,
  type SiteView,
  type StateReply,
} from './partition-calls.ts';
import { findPartition } from './partition-of-key.ts';
import {
  readCausal,
  readLatest,
  type OnRead,
  type ReadContext,
  type ReadRefusal,
  type SnapshotSource,
} from './read-transaction.ts';
import { pullOnce, resync, type Replication, type ReplicationResult } from './replicator.ts';
import type { CausalSession } from './session.ts';
import type { GatewayTime } from './site-time.ts';
import { Stabilizer, type PendingPoll } from './stabilizer.ts';
import { isRemotelyCovered, type SiteIndex, type Stamp } from './stamps.ts';

/** What an operator should know. */
export interface CausalAlarm {
  /**
   * - `lost-writes`: a partition has lost acknowledged writes, and no other site had them (R13).
   * - `causal-history`: another site has broken its promise, so a snapshot may be torn (R11).
   * - `dropped-entries`: a site was away for so long that it must copy a whole partition (R16).
   */
  readonly code: 'lost-writes' | 'causal-history' | 'dropped-entries';
  readonly partition: number;
}

export interface CausalSiteOptions {
  readonly site: SiteIndex;
  readonly siteCount: number;
  readonly partitionCount: number;
  readonly limits: CausalLimits;
  readonly port: PartitionPort;
  readonly getTime: () => GatewayTime;
  readonly onAlarm: (alarm: CausalAlarm) => void;
}

export interface Write {
  readonly key: string;
  readonly kind: 'value' | 'tombstone';
  readonly value: unknown;
  readonly ttl: Stamp;
  /** The same for each repetition of the write (R17). */
  readonly id: string;
}

/** Why an operation did not run. `SESSION_AHEAD`: the site lacks what the session saw (R20). */
export interface OperationRefusal {
  readonly refused: RefusalReason | 'SESSION_AHEAD';
}

export type OnWritten = (result: { readonly stamp: Stamp } | OperationRefusal) => void;
export type OnSiteRead = (result: Parameters<OnRead>[0] | OperationRefusal) => void;

export class CausalSite {
  protected readonly options: CausalSiteOptions;
  protected readonly stabilizer: Stabilizer;
  /** Partitions that have lost state. */
  readonly #broken = new Set<number>();
  /** Partitions that were healed, and have not received again what the snapshots need. */
  readonly #recovering = new Set<number>();
  readonly #busy = new Set<string>();

  constructor(options: CausalSiteOptions) {
    this.options = options;
    this.stabilizer = this.createStabilizer();
  }

  getView(): SiteView {
    return this.stabilizer.getView(this.options.getTime());
  }

  /** Returns whether a session can go on here without waiting (R20). */
  canContinue(session: CausalSession): boolean {
    return session.canContinueAt(this.options.site, this.stabilizer.stable);
  }

  /** Polls all partitions, and raises the stable snapshot when all have replied (R12). */
  poll(): void {
    const { partitionCount, getTime } = this.options;
    let open = partitionCount;
    for (let partition = 0; partition < partitionCount; partition += 1) {
      const pending = this.stabilizer.beginPoll(partition, getTime());
      this.#readState(pending, (state) => {
        if (state !== undefined) {
          const hasLostState = this.stabilizer.endPoll(pending, state, getTime());
          if (hasLostState) this.#broken.add(partition);
          else this.#noteReceived(pending, state);
        }
        open -= 1;
        if (open === 0) this.stabilizer.advance();
      });
    }
  }

  /** Brings what other sites have written, and heals partitions that have lost state. */
  replicate(): void {
    const { partitionCount } = this.options;
    for (let partition = 0; partition < partitionCount; partition += 1) {
      if (this.#broken.has(partition)) this.#heal(partition);
      else for (const source of this.#otherSites()) this.#pull(partition, source);
    }
  }

  put(session: CausalSession, write: Write, onEnd: OnWritten): void {
    const { partitionCount, site, port, getTime } = this.options;
    const partition = findPartition(write.key, partitionCount);
    if (!this.mayStart(session)) return onEnd({ refused: 'SESSION_AHEAD' });
    if (!this.stabilizer.isTrusted(partition)) return onEnd({ refused: 'CLOCK' });

    const request = {
      ...write,
      dependencies: session.dependencies,
      stable: this.stabilizer.stable,
      siteTime: this.stabilizer.getSiteTime(getTime()),
      lastSeen: this.stabilizer.getLastSeen(partition),
    };
    port.call({ site, partition }, 'put', request, (reply) => {
      if (isRefusal(reply)) {
        this.#noteRefusal({ ...reply, site, partition });
        return onEnd(reply);
      }
      session.observeStamp(site, reply.stamp);
      this.stabilizer.observeOwnStamp(partition, reply.stamp);
      this.stabilizer.observeClock(reply.stamp, getTime());
      if (reply.droppedEntries > 0) this.#raiseAlarm('dropped-entries', partition);
      onEnd({ stamp: reply.stamp });
    });
  }

  /** Reads at `causal`. */
  read(
    session: CausalSession,
    { keys, source }: { readonly keys: readonly string[]; readonly source: SnapshotSource },
    onEnd: OnSiteRead,
  ): void {
    if (!this.mayStart(session)) return onEnd({ refused: 'SESSION_AHEAD' });
    const { partitionCount, getTime } = this.options;
    const isTrusted = (key: string): boolean =>
      this.stabilizer.isTrusted(findPartition(key, partitionCount));
    if (!keys.every(isTrusted)) return onEnd({ refused: 'CLOCK' });

    const ownStamp = this.stabilizer.getOwnSnapshotStamp(getTime());
    const context = { ...this.#createReadContext(session, keys), ownStamp, source };
    readCausal(context, (result) => {
      if (isRefusal(result)) this.#noteRefusal(result);
      onEnd(result);
    });
  }

  /** Reads at `latest` (R22). */
  readLatest(session: CausalSession, keys: readonly string[], onEnd: OnSiteRead): void {
    readLatest(this.#createReadContext(session, keys), (result) => {
      if (isRefusal(result)) this.#noteRefusal(result);
      onEnd(result);
    });
  }

  protected createStabilizer(): Stabilizer {
    return new Stabilizer(this.options);
  }

  /** R20. */
  protected mayStart(session: CausalSession): boolean {
    return this.canContinue(session);
  }

  #createReadContext(session: CausalSession, keys: readonly string[]): ReadContext {
    return { ...this.options, session, keys, view: this.getView() };
  }

  #otherSites(): readonly SiteIndex[] {
    const { site, siteCount } = this.options;
    return Array.from({ length: siteCount }, (_, other) => other).filter((other) => other !== site);
  }

  #readState(
    { partition, lastSeen }: { readonly partition: number; readonly lastSeen: Stamp },
    onState: (state: StateReply | undefined) => void,
  ): void {
    const { port, site, getTime } = this.options;
    const { highestClock: siteClock, stable } = this.stabilizer;
    const siteTime = this.stabilizer.getSiteTime(getTime());
    const request = { siteClock, stable, siteTime, lastSeen };
    port.call({ site, partition }, 'state', request, (reply) =>
      onState(isRefusal(reply) ? undefined : reply),
    );
  }

  /** R13: both reasons mean that the partition has lost state. */
  #noteRefusal({ refused, site, partition }: ReadRefusal): void {
    if (site !== this.options.site) return;
    const isBehind = refused === 'BEHIND' && !this.#recovering.has(partition);
    if (refused === 'REWOUND' || isBehind) this.#broken.add(partition);
  }

  /** R13: a partition that lacks what was stable when the poll was sent has lost it. */
  #noteReceived({ partition, stable }: PendingPoll, { received }: StateReply): void {
    if (isRemotelyCovered(stable, received, this.options.site)) this.#recovering.delete(partition);
    else if (!this.#recovering.has(partition)) this.#broken.add(partition);
  }

  #pull(partition: number, source: SiteIndex): void {
    this.#runOnce(`pull ${partition} ${source}`, (onEnd) => {
      pullOnce(this.#createReplication(partition, source), (result) => {
        this.#noteReplication(partition, result);
        onEnd();
      });
    });
  }

  #noteReplication(partition: number, result: ReplicationResult): void {
    if ('done' in result && result.done === 'applied' && result.belowPromise > 0)
      this.#raiseAlarm('causal-history', partition);
  }

  /**
   * Heals a partition that has lost state (R14): copies from all other sites, since each may have
   * writes that the others lack. Clients are refused until it ends.
   */
  #heal(partition: number): void {
    this.#runOnce(`heal ${partition}`, (onEnd) => {
      const { port, site } = this.options;
      const address = { site, partition };
      port.call(address, 'suspect', {}, (suspicion) => {
        if (isRefusal(suspicion)) return onEnd();
        this.#copyFrom(partition, this.#otherSites(), (isComplete) => {
          if (!isComplete) return onEnd();
          port.call(address, 'confirmHealed', suspicion, (reply) => {
            if (isRefusal(reply)) return onEnd();
            this.#acceptHealed(address, onEnd);
          });
        });
      });
    });
  }

  #copyFrom(
    partition: number,
    [source, ...others]: readonly SiteIndex[],
    onEnd: (isComplete: boolean) => void,
  ): void {
    if (source === undefined) return onEnd(true);
    resync(this.#createReplication(partition, source), { hasLostState: true }, (result) => {
      if (isRefusal(result)) onEnd(false);
      else this.#copyFrom(partition, others, onEnd);
    });
  }

  #acceptHealed({ partition }: PartitionAddress, onEnd: () => void): void {
    // Writes that no other site had are gone: what was seen of them counts no longer.
    this.#readState({ partition, lastSeen: 0 }, (state) => {
      if (state !== undefined) {
        if (this.stabilizer.acceptHealed(partition, state))
          this.#raiseAlarm('lost-writes', partition);
        this.#broken.delete(partition);
        this.#recovering.add(partition);
      }
      onEnd();
    });
  }

  #createReplication(partition: number, source: SiteIndex): Replication {
    const { port, limits, site, getTime } = this.options;
    const { stable, highestClock } = this.stabilizer;
    return {
      port,
      limits,
      target: { site, partition },
      source,
      context: {
        stable,
        siteClock: highestClock,
        siteTime: this.stabilizer.getSiteTime(getTime()),
        lastSeen: this.stabilizer.getLastSeen(partition),
        isFarAhead: (state, source) => this.stabilizer.isFarAhead(state, source),
      },
    };
  }

  /** Starts nothing twice at a time. */
  #runOnce(name: string, run: (onEnd: () => void) => void): void {
    if (this.#busy.has(name)) return;
    this.#busy.add(name);
    run(() => this.#busy.delete(name));
  }

  #raiseAlarm(code: CausalAlarm['code'], partition: number): void {
    this.options.onAlarm({ code, partition });
  }
}
