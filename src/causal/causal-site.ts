/**
 * The gateway of one site. It combines the rules of the other files.
 *
 * It has no timer. Its owner calls `poll` and `replicate` periodically, and repeats operations that
 * were refused for a temporary reason.
 */
import { Gathering } from './gather.ts';
import type { CausalLimits } from './limits.ts';
import {
  isRefusal,
  type HealedState,
  type PartitionPort,
  type RefusalCode,
  type RefusalReason,
  type SiteView,
  type StateReply,
  type StateRequest,
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
import {
  pullOnce,
  resync,
  type Position,
  type Replication,
  type ReplicationResult,
} from './replicator.ts';
import type { CausalSession } from './session.ts';
import type { GatewayTime } from './site-time.ts';
import { Stabilizer, type PendingPoll } from './stabilizer.ts';
import { createZeroVector, isRemotelyCovered, type SiteIndex, type Stamp } from './stamps.ts';
import type { Version } from './version.ts';

/** A problem that an operator should know of. */
export interface CausalAlarm {
  /**
   * - `lost-writes`: a partition has lost acknowledged writes, and no other site had them
   *   (CAUSAL-13).
   * - `causal-history`: another site has sent a write that is older than it had promised to send.
   *   So a snapshot may lack a write that it depends on (CAUSAL-11).
   * - `dropped-entries`: a site was away for so long that it must copy a whole partition
   *   (CAUSAL-16).
   * - `clock`: the clock of a partition, here or at another site, is too far off (CAUSAL-8).
   */
  readonly code: 'lost-writes' | 'causal-history' | 'dropped-entries' | 'clock';
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
  /** Called when a pull has brought writes of another site. */
  readonly onNews?: () => void;
}

export interface Write {
  readonly key: string;
  readonly kind: 'value' | 'tombstone';
  readonly value: unknown;
  readonly ttl: Stamp;
  /** Identifies the write. A repetition has the same id (CAUSAL-17). */
  readonly id: string;
}

/**
 * Why an operation did not run. `SESSION_AHEAD`: the site lacks what the session saw (CAUSAL-20).
 */
export interface OperationRefusal {
  readonly refused: RefusalReason | 'SESSION_AHEAD';
  /** The site that refused. Default: the own one */
  readonly site?: SiteIndex;
  readonly detail?: string;
  readonly code?: RefusalCode;
}

export type OnWritten = (result: { readonly stamp: Stamp } | OperationRefusal) => void;
export type OnSiteRead = (result: Parameters<OnRead>[0] | OperationRefusal) => void;

/** The classes of the parts of a `CausalSite`. Tests replace some. */
export const CAUSAL_PARTS = { Stabilizer };

export class CausalSite {
  readonly #options: CausalSiteOptions;
  readonly stabilizer: Stabilizer;
  /** Partitions that have lost state. */
  readonly #broken = new Set<number>();
  /** Partitions that were healed, and have not received again what the snapshots need. */
  readonly #recovering = new Set<number>();
  /** When the gateway that replicates was asked to heal a partition. */
  readonly #healRequestedAt = new Map<number, Stamp>();
  /**
   * Partitions for which other sites have not reported yet which own writes of this site they have
   * (CAUSAL-13).
   */
  readonly #unchecked = new Set<number>();
  /** Partitions that this gateway has not polled since it started (CAUSAL-13). */
  readonly #unpolled = new Set<number>();
  readonly #untrusted = new Set<number>();
  #needsOtherSites = false;
  #isStableKnown = true;
  readonly #busy = new Set<string>();
  /** The cursor after the latest pull, by partition and source. */
  readonly #positions = new Map<string, Position>();

  constructor(options: CausalSiteOptions, parts: typeof CAUSAL_PARTS = CAUSAL_PARTS) {
    this.#options = options;
    this.stabilizer = new parts.Stabilizer(options);
  }

  getView(): SiteView {
    return this.stabilizer.getView(this.#options.getTime());
  }

  /** Returns whether a session can continue at this site without waiting (CAUSAL-20). */
  canContinue(session: CausalSession): boolean {
    return session.canContinueAt(this.#options.site, this.stabilizer.stable);
  }

  /**
   * Starts a gateway that knows nothing yet, at a site that may have data (CAUSAL-13).
   *
   * A partition may have lost writes before this gateway started. To detect that, the gateway takes
   * the view that other gateways have published, and asks the other sites which writes of this site
   * they have. Clients are served once a poll has compared the partition with both. Without a
   * published view, all other sites must answer. The first gateway of a site that was just prepared
   * passes `needsOtherSites: false`.
   */
  start(published: SiteView | undefined, { needsOtherSites = true } = {}): void {
    const { partitionCount, siteCount } = this.#options;
    this.#needsOtherSites = needsOtherSites && published === undefined;
    this.#isStableKnown = published !== undefined || siteCount === 1;
    if (published !== undefined) this.stabilizer.observeView(published);
    for (let partition = 0; partition < partitionCount; partition += 1) {
      this.#unpolled.add(partition);
      if (siteCount > 1) this.#unchecked.add(partition);
    }
  }

  /** Whether all partitions can be served. */
  get isReady(): boolean {
    return this.#isStableKnown && this.#unpolled.size === 0;
  }

  /** Takes what another gateway of the site has published. */
  observeView(view: SiteView): void {
    for (const { partition, hasLost } of this.stabilizer.observeView(view)) {
      // Another gateway has restored this part of the data from other sites. It may never have seen
      // the writes that are lost, so this gateway reports them.
      if (hasLost) this.#raiseAlarm('lost-writes', partition);
      this.#noteHealed(partition);
    }
  }

  /** When the partition of `key` was last healed. A write that was pending then may be lost. */
  getHealedAt(key: string): Stamp {
    return this.stabilizer.getHealedAt(findPartition(key, this.#options.partitionCount));
  }

  /** Polls all partitions, and raises the stable snapshot when all have replied (CAUSAL-12). */
  poll(onEnd: () => void = () => {}): void {
    const { partitionCount } = this.#options;
    let open = 1;
    const end = (): void => {
      open -= 1;
      if (open > 0) return;
      this.stabilizer.advance();
      this.#noteClocks();
      if (this.#unpolled.size === 0) this.#isStableKnown = true;
      onEnd();
    };
    for (let partition = 0; partition < partitionCount; partition += 1) {
      // Ignore partitions that are being healed: a stamp that was seen before a heal proves nothing
      // about the state after it.
      if (this.#unchecked.has(partition) || this.#broken.has(partition)) continue;
      open += 1;
      this.#pollOne(partition, end);
    }
    end();
  }

  /** Replicates the writes of other sites, and heals partitions that have lost state. */
  replicate(): void {
    const { partitionCount } = this.#options;
    this.checkOwnStamps();
    for (let partition = 0; partition < partitionCount; partition += 1) {
      if (this.#broken.has(partition)) this.#heal(partition);
      else for (const source of this.#otherSites()) this.#pull(partition, source);
    }
  }

  /**
   * Asks the gateway that replicates to heal partitions that this gateway has found to be broken
   * (CAUSAL-13).
   *
   * The request is repeated only after a while: the partition may have been healed already without
   * this gateway knowing it yet. Each request would then begin another heal.
   */
  requestHeals(): void {
    const { site, port, limits, getTime } = this.#options;
    const { elapsed } = getTime();
    for (const partition of this.#broken) {
      const requestedAt = this.#healRequestedAt.get(partition) ?? -Infinity;
      if (elapsed - requestedAt < limits.requestTimeout) continue;
      this.#runOnce(`suspect ${partition}`, (onEnd) => {
        port.call({ site, partition }, 'suspect', {}, (reply) => {
          if (!isRefusal(reply)) this.#healRequestedAt.set(partition, elapsed);
          onEnd();
        });
      });
    }
  }

  /** Asks other sites, after a start, which own writes of this site they have (CAUSAL-13). */
  checkOwnStamps(): void {
    for (const partition of this.#unchecked)
      this.#runOnce(`check ${partition}`, (onEnd) => this.#checkOwnStamp(partition, onEnd));
  }

  put(session: CausalSession, write: Write, onEnd: OnWritten): void {
    const { partitionCount, site, port, getTime } = this.#options;
    const partition = findPartition(write.key, partitionCount);
    if (!this.#canServe([write.key])) return onEnd({ refused: 'STARTING' });
    if (!this.mayStart(session)) return onEnd({ refused: 'SESSION_AHEAD' });
    if (!this.stabilizer.isTrusted(partition)) return onEnd({ refused: 'CLOCK' });

    const request = {
      ...write,
      dependencies: session.dependencies,
      stable: this.stabilizer.stable,
      siteTime: this.stabilizer.getSiteTime(getTime()),
      lastSeen: this.stabilizer.getLastSeen(partition),
    };
    const healedAt = this.stabilizer.getHealedAt(partition);
    port.call({ site, partition }, 'put', request, (reply) => {
      if (isRefusal(reply)) {
        this.#noteRefusal({ ...reply, site, partition }, healedAt);
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
    if (!this.#canServe(keys)) return onEnd({ refused: 'STARTING' });
    if (!this.mayStart(session)) return onEnd({ refused: 'SESSION_AHEAD' });
    const { partitionCount, getTime } = this.#options;
    const isTrusted = (key: string): boolean =>
      this.stabilizer.isTrusted(findPartition(key, partitionCount));
    if (!keys.every(isTrusted)) return onEnd({ refused: 'CLOCK' });

    const ownStamp = this.stabilizer.getOwnSnapshotStamp(getTime());
    const context = { ...this.#createReadContext(session, keys), ownStamp, source };
    readCausal(context, (result) => {
      if (isRefusal(result)) this.#noteRefusal(result, context.view.healedAt[result.partition]);
      else this.#noteVersions(keys, result.versions);
      onEnd(result);
    });
  }

  /** Reads at `latest` (CAUSAL-22). */
  readLatest(session: CausalSession, keys: readonly string[], onEnd: OnSiteRead): void {
    if (!this.#canServe(keys)) return onEnd({ refused: 'STARTING' });
    const context = this.#createReadContext(session, keys);
    readLatest(context, (result) => {
      if (isRefusal(result)) this.#noteRefusal(result, context.view.healedAt[result.partition]);
      else this.#noteVersions(keys, result.versions);
      onEnd(result);
    });
  }

  /** CAUSAL-20. */
  mayStart(session: CausalSession): boolean {
    return this.canContinue(session);
  }

  #createReadContext(session: CausalSession, keys: readonly string[]): ReadContext {
    return { ...this.#options, session, keys, view: this.getView() };
  }

  #canServe(keys: readonly string[]): boolean {
    if (this.isReady) return true;
    const { partitionCount } = this.#options;
    const isPolled = (key: string): boolean =>
      !this.#unpolled.has(findPartition(key, partitionCount));
    return this.#isStableKnown && keys.every(isPolled);
  }

  /**
   * CAUSAL-13: notes the stamps of own writes that were read, so that their loss is detected. If
   * another gateway made such a write, this gateway learns of it only by the read.
   */
  #noteVersions(keys: readonly string[], versions: readonly (Version | undefined)[]): void {
    const { site, partitionCount } = this.#options;
    for (const [place, version] of versions.entries()) {
      if (version?.site !== site) continue;
      const partition = findPartition(keys[place] as string, partitionCount);
      this.stabilizer.observeOwnStamp(partition, version.stamp);
    }
  }

  #pollOne(partition: number, onEnd: () => void): void {
    const { getTime } = this.#options;
    const pending = this.stabilizer.beginPoll(partition, getTime());
    this.#readState(pending, (state) => {
      const isOutdated = pending.healedAt !== this.stabilizer.getHealedAt(partition);
      if (state !== undefined && !isOutdated) {
        const hasLostState = this.stabilizer.endPoll(pending, state, getTime());
        if (hasLostState) this.#broken.add(partition);
        else {
          this.#noteReceived(pending, state);
          this.#unpolled.delete(partition);
        }
      }
      onEnd();
    });
  }

  /**
   * Asks the other sites for their cursors. Each cursor names the last write of this site that the
   * other site has. The partition is asked first: during a failover, another site may still receive
   * its last writes.
   */
  #checkOwnStamp(partition: number, onEnd: () => void): void {
    const { port, site, siteCount } = this.#options;
    // Send zero as the time, so that the call does not confirm that all writes are there
    // (CAUSAL-10).
    const request = { siteTime: 0, siteClock: 0, lastSeen: 0, stable: createZeroVector(siteCount) };
    port.call({ site, partition }, 'state', request, (state) => {
      if (isRefusal(state)) return onEnd();
      this.stabilizer.observeOwnStamp(partition, state.lastOwnStamp);
      this.#askOtherSites(partition, request, onEnd);
    });
  }

  #askOtherSites(partition: number, request: StateRequest, onEnd: () => void): void {
    const { port, site } = this.#options;
    const others = this.#otherSites();
    const answers = new Gathering<{ readonly isKnown: boolean }>(others.length, (result) => {
      const isComplete = !isRefusal(result) && result.every(({ isKnown }) => isKnown);
      if (isComplete || !this.#needsOtherSites) this.#unchecked.delete(partition);
      onEnd();
    });
    for (const [place, other] of others.entries())
      port.call({ site: other, partition }, 'state', request, (reply) => {
        if (!isRefusal(reply))
          this.stabilizer.observeOwnStamp(partition, reply.cursors[site]?.stamp ?? 0);
        answers.add(place, { isKnown: !isRefusal(reply) });
      });
  }

  #noteClocks(): void {
    for (let partition = 0; partition < this.#options.partitionCount; partition += 1) {
      const isTrusted = this.stabilizer.isTrusted(partition);
      if (isTrusted) this.#untrusted.delete(partition);
      else if (!this.#untrusted.has(partition)) {
        this.#untrusted.add(partition);
        this.#raiseAlarm('clock', partition);
      }
    }
  }

  #otherSites(): readonly SiteIndex[] {
    const { site, siteCount } = this.#options;
    return Array.from({ length: siteCount }, (_, other) => other).filter((other) => other !== site);
  }

  #readState(
    { partition, lastSeen }: PendingPoll,
    onState: (state: StateReply | undefined) => void,
  ): void {
    const { port, site, getTime } = this.#options;
    const { stable, highestClock: siteClock } = this.stabilizer;
    const siteTime = this.stabilizer.getSiteTime(getTime());
    const request = { siteClock, stable, siteTime, lastSeen };
    port.call({ site, partition }, 'state', request, (reply) =>
      onState(isRefusal(reply) ? undefined : reply),
    );
  }

  #noteHealed(partition: number): void {
    this.#broken.delete(partition);
    this.#healRequestedAt.delete(partition);
    this.#recovering.add(partition);
  }

  /**
   * CAUSAL-13: `REWOUND` and `BEHIND` mean that the partition has lost state, unless it was healed
   * since the call was sent.
   */
  #noteRefusal({ refused, site, partition }: ReadRefusal, healedAt: Stamp | undefined): void {
    if (site !== this.#options.site) return;
    if (healedAt !== this.stabilizer.getHealedAt(partition)) return;
    const isBehind = refused === 'BEHIND' && !this.#recovering.has(partition);
    if (refused === 'REWOUND' || isBehind) this.#broken.add(partition);
  }

  /**
   * CAUSAL-13: a partition has lost state if it lacks writes that were stable when the poll was
   * sent.
   */
  #noteReceived({ partition, stable }: PendingPoll, { received }: StateReply): void {
    if (isRemotelyCovered(stable, received, this.#options.site)) this.#recovering.delete(partition);
    else if (!this.#recovering.has(partition)) this.#broken.add(partition);
  }

  #pull(partition: number, source: SiteIndex): void {
    this.#runOnce(formatWay(partition, source), (onEnd) => {
      pullOnce(this.#createReplication(partition, source), (result) => {
        const way = formatWay(partition, source);
        if ('position' in result) this.#positions.set(way, result.position);
        else this.#positions.delete(way);
        this.#noteReplication(partition, result);
        onEnd();
      });
    });
  }

  #noteReplication(partition: number, result: ReplicationResult): void {
    if (isRefusal(result)) {
      if (result.refused === 'CLOCK') this.#raiseAlarm('clock', partition);
    } else if (result.done === 'applied') {
      if (result.belowPromise > 0) this.#raiseAlarm('causal-history', partition);
      if (result.entries > 0) this.#options.onNews?.();
    }
  }

  /**
   * Heals a partition that has lost state (CAUSAL-14): copies from all other sites, since each may
   * have writes that the others lack. Clients are refused until it ends.
   */
  #heal(partition: number): void {
    this.#runOnce(`heal ${partition}`, (onEnd) => {
      const { port, site } = this.#options;
      const address = { site, partition };
      port.call(address, 'suspect', {}, (suspicion) => {
        if (isRefusal(suspicion)) return onEnd();
        this.#copyFrom(partition, this.#otherSites(), (isComplete) => {
          if (!isComplete) return onEnd();
          const request = { ...suspicion, siteClock: this.#getSiteClock(partition) };
          port.call(address, 'confirmHealed', request, (reply) => {
            if (!isRefusal(reply)) this.#acceptHealed(partition, reply);
            onEnd();
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

  /**
   * Returns the clock for a partition that was healed. Writes that no other site had are lost for
   * good, so their stamps must not count as lost again: later writes get higher ones.
   */
  #getSiteClock(partition: number): Stamp {
    const { stabilizer } = this;
    return Math.max(
      stabilizer.highestClock,
      stabilizer.getLastSeen(partition),
      stabilizer.getSiteTime(this.#options.getTime()),
    );
  }

  #acceptHealed(partition: number, state: HealedState): void {
    if (this.stabilizer.acceptHealed(partition, state)) this.#raiseAlarm('lost-writes', partition);
    this.#noteHealed(partition);
  }

  #createReplication(partition: number, source: SiteIndex): Replication {
    const { port, limits, site, getTime } = this.#options;
    const { stable, highestClock } = this.stabilizer;
    return {
      port,
      limits,
      target: { site, partition },
      source,
      position: this.#positions.get(formatWay(partition, source)),
      context: {
        stable,
        siteClock: highestClock,
        siteTime: this.stabilizer.getSiteTime(getTime()),
        lastSeen: this.stabilizer.getLastSeen(partition),
        isFarAhead: (received, from) => this.stabilizer.isFarAhead(received, from),
      },
    };
  }

  /** Runs `run` unless a run of the same name is in progress. */
  #runOnce(name: string, run: (onEnd: () => void) => void): void {
    if (this.#busy.has(name)) return;
    this.#busy.add(name);
    run(() => this.#busy.delete(name));
  }

  #raiseAlarm(code: CausalAlarm['code'], partition: number): void {
    this.#options.onAlarm({ code, partition });
  }
}

function formatWay(partition: number, source: SiteIndex): string {
  return `pull ${partition} ${source}`;
}
