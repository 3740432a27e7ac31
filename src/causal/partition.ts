/**
 * One partition at one site: a state machine that executes one call at a time (Contrarian, Alg. 2).
 *
 * It has no clock of its own. Each call gets the time of the machine that the partition runs on.
 * The steps that keep causality are methods of their own, so that a test can leave one out and show
 * that the checks find it.
 */
import type { CausalLimits } from './limits.ts';
import type {
  ApplyReply,
  ApplyRequest,
  CallName,
  ConfirmRequest,
  FencedRequest,
  HealedState,
  MergeRequest,
  OwnEntry,
  PartitionCalls,
  PullReply,
  PullRequest,
  PutReply,
  PutRequest,
  ReadReply,
  ReadRequest,
  Refusal,
  RefusalReason,
  ScanReply,
  ScanRequest,
  SeekRequest,
  SnapshotReply,
  SnapshotRequest,
  StateReply,
  StateRequest,
  Suspicion,
  TimedRequest,
} from './partition-calls.ts';
import { createPartitionState, type PartitionState } from './partition-state.ts';
import {
  getStamp,
  isRemotelyCovered,
  raiseStamp,
  withStamp,
  type SiteIndex,
  type Stamp,
  type Vector,
} from './stamps.ts';
import { REMOVAL_CHECKS, type RemovableKey } from './removal-queue.ts';
import type { Version } from './version.ts';
import {
  EMPTY_CHAIN,
  findVisibleVersion,
  getVersions,
  insertVersion,
  mergeChain,
  trimChain,
  type VersionChain,
} from './version-chain.ts';

export interface PartitionOptions {
  readonly site: SiteIndex;
  readonly siteCount: number;
  readonly limits: CausalLimits;
}

type Reply<N extends CallName> = PartitionCalls[N]['reply'] | Refusal;
type Handler = (request: never, now: Stamp) => object;

const DONE = {};

export class Partition {
  readonly site: SiteIndex;
  readonly limits: CausalLimits;
  state: PartitionState;
  readonly #siteCount: number;
  readonly #handlers: { readonly [N in CallName]: Handler };

  constructor({ site, siteCount, limits }: PartitionOptions) {
    this.site = site;
    this.limits = limits;
    this.#siteCount = siteCount;
    this.state = createPartitionState(siteCount);
    this.#handlers = {
      put: (request: PutRequest, now) => this.put(request, now),
      snapshot: (request: SnapshotRequest, now) => this.snapshot(request, now),
      read: (request: ReadRequest, now) => this.read(request, now),
      state: (request: StateRequest, now) => this.report(request, now),
      pull: (request: PullRequest, now) => this.pull(request, now),
      apply: (request: ApplyRequest, now) => this.apply(request, now),
      lastEntry: () => this.state.own.last,
      scan: (request: ScanRequest) => this.scan(request),
      merge: (request: MergeRequest) => this.merge(request),
      seek: (request: SeekRequest) => this.seek(request),
      suspect: () => this.suspect(),
      confirmHealed: (request: ConfirmRequest, now) => this.confirmHealed(request, now),
    };
  }

  /** Executes a call as a whole. `now` is the physical clock of the partition. */
  execute<N extends CallName>(
    name: N,
    request: PartitionCalls[N]['request'],
    now: Stamp,
  ): Reply<N> {
    return this.#handlers[name](request as never, now) as Reply<N>;
  }

  /**
   * Writes a new version, unless the id was used here before (CAUSAL-1, CAUSAL-2, CAUSAL-9,
   * CAUSAL-17; Alg. 2, 1–10).
   */
  put(request: PutRequest, now: Stamp): PutReply | Refusal {
    const { state, site } = this;
    if (this.isClockOff(request, now)) return refuse('CLOCK');
    const known = this.findRepeatedWrite(request.id);
    if (known !== undefined) return { stamp: known, droppedEntries: 0 };
    if (this.hasLostWrites(request)) return refuse('REWOUND');

    const chain = this.#getChain(request.key);
    const stamp = this.chooseStamp(request, chain, now);
    if (this.isTooFarAhead(stamp, now)) return refuse('CLOCK');
    const version: Version = {
      stamp,
      site,
      kind: request.kind,
      expiresAt: request.ttl === 0 ? 0 : stamp + request.ttl,
      dependencies: withStamp(request.dependencies, site, stamp),
      value: request.value,
    };
    state.clock = stamp;
    state.lastOwnStamp = stamp;
    this.#store(request.key, insertVersion(chain, version), request.stable, now);
    state.own.append({ stamp, id: request.id, write: { key: request.key, version } });
    return { stamp, droppedEntries: this.#pruneEntries(now) };
  }

  /**
   * Raises the clock, and returns it as the stamp of this site in a snapshot (CAUSAL-23; Alg. 2,
   * 15–19).
   */
  snapshot({ atLeast }: SnapshotRequest, now: Stamp): SnapshotReply | Refusal {
    if (this.isTooFarAhead(atLeast, now)) return refuse('CLOCK');
    // The physical clock is not stored: if it is wrong, it must be right again once it is set.
    this.state.clock = Math.max(this.state.clock, atLeast);
    return { clock: Math.max(this.state.clock, now) };
  }

  /**
   * Returns the newest version of each key in the snapshot (CAUSAL-4, CAUSAL-7, CAUSAL-13; Alg. 2,
   * 20–28).
   */
  read(request: ReadRequest, now: Stamp): ReadReply | Refusal {
    const { snapshot, keys } = request;
    if (this.isClockOff(request, now)) return refuse('CLOCK');
    if (this.isTooFarAhead(getStamp(snapshot, this.site), now)) return refuse('CLOCK');
    if (this.hasLostWrites(request)) return refuse('REWOUND');
    if (!request.acceptsMissing && this.isBehind(snapshot)) return refuse('BEHIND');

    this.raiseClockTo(getStamp(snapshot, this.site));
    const versions: (Version | undefined)[] = [];
    for (const key of keys) {
      const version = this.findVersion(this.#getChain(key), snapshot);
      if (version === 'TOO_OLD') return refuse('TOO_OLD');
      versions.push(version);
    }
    return { versions, clock: this.state.clock };
  }

  /**
   * Reports what the stabilizer needs, and raises the clock to that of the site (Alg. 2, 35–38).
   */
  report(request: StateRequest, now: Stamp): StateReply {
    const { state } = this;
    const { siteClock, stable } = request;
    if (!this.isTooFarAhead(siteClock, now)) state.clock = Math.max(state.clock, siteClock);
    this.#confirm(request, now);
    this.#dropRemovable(stable, now);
    return {
      physicalClock: now,
      clock: state.clock,
      lastOwnStamp: state.lastOwnStamp,
      received: state.received,
      cursors: state.cursors,
      suspicions: state.suspicions,
      healedSuspicions: state.healedSuspicions,
    };
  }

  /** Returns entries for another site, and a promise (CAUSAL-10; Alg. 2, 11 and 29–32). */
  pull(request: PullRequest, now: Stamp): PullReply | Refusal {
    const { state } = this;
    const { cursor, requester } = request;
    if (this.isClockOff(request, now)) return refuse('CLOCK');
    if (!state.own.has(cursor)) {
      // The other site has writes that this one has lost. Note it, so that the gateway here learns
      // of the loss (CAUSAL-13).
      if (state.own.isFromLostState(cursor)) this.#noteSuspicion();
      return refuse('LOST');
    }
    if (this.isTooFarAhead(request.promiseHeld, now)) return refuse('CLOCK');
    state.clock = Math.max(state.clock, now, this.keepPromise(request));
    const acknowledged = Math.max(getStamp(state.acknowledged, requester), cursor.entry);
    state.acknowledged = withStamp(state.acknowledged, requester, acknowledged);

    const entries = state.own.readAfter(cursor.entry, request.maxEntries);
    const last = entries.at(-1);
    const end = last && { entry: cursor.entry + entries.length, stamp: last.stamp };
    const promise = Math.min(this.choosePromise(entries, end?.entry), this.getConfirmedStamp());
    return { entries, cursor: end ?? cursor, promise };
  }

  /**
   * Inserts the entries of another site and moves its cursor, as one step (CAUSAL-11; Alg. 2,
   * 12–14).
   */
  apply(request: ApplyRequest, now: Stamp): ApplyReply | Refusal {
    const { state } = this;
    const { source, entries, expectedCursor, cursor } = request;
    if (!this.isCursorAt(source, expectedCursor)) return refuse('STALE');
    if (this.isTooFarAhead(request.promise, now)) return refuse('CLOCK');

    const received = getStamp(state.received, source);
    let belowPromise = 0;
    for (const { stamp, write } of entries) {
      if (write === undefined) continue;
      if (stamp <= received) belowPromise += 1;
      const chain = insertVersion(this.#getChain(write.key), write.version);
      this.#store(write.key, chain, request.stable, now);
    }
    state.cursors = state.cursors.with(source, cursor);
    state.received = raiseStamp(state.received, source, request.promise);
    return { belowPromise };
  }

  /** Returns whole chains. A page begins after the last key of the page before (CAUSAL-14). */
  scan({ page, maxKeys }: ScanRequest): ScanReply {
    const keys = [...this.state.chains.keys()].filter((key) => key > page).toSorted();
    const found = keys.slice(0, maxKeys);
    const chains = found.map((key) => [key, this.#getChain(key)] as const);
    return { chains, nextPage: found.length < keys.length ? found.at(-1) : undefined };
  }

  /** Adds the versions of another site's chains (CAUSAL-14). */
  merge({ chains, hasLostState }: MergeRequest): object {
    const { state, site } = this;
    // Snapshots up to the received vector of this partition cannot see versions that the other site
    // has dropped.
    const passableUpTo = hasLostState ? undefined : withStamp(state.received, site, Infinity);
    let highestOwn = 0;
    for (const [key, chain] of chains) {
      for (const version of getVersions(chain))
        if (version.site === site) highestOwn = Math.max(highestOwn, version.stamp);
      this.#setChain(key, mergeChain(this.#getChain(key), chain, passableUpTo));
    }
    if (highestOwn <= state.lastOwnStamp) return DONE;
    state.recoveredOwnStamp = Math.max(state.recoveredOwnStamp, highestOwn);
    this.#noteSuspicion();
    return DONE;
  }

  /** Refuses clients until a heal is confirmed, also those of other gateways (CAUSAL-13). */
  suspect(): Suspicion {
    this.#noteSuspicion();
    return { suspicions: this.state.suspicions };
  }

  /** Ends a heal. Own writes that were copied back count as own writes from now on (CAUSAL-14). */
  confirmHealed({ suspicions, siteClock }: ConfirmRequest, now: Stamp): HealedState | Refusal {
    const { state } = this;
    // The partition has lost state again since the heal began, perhaps with the copied data.
    if (state.suspicions < suspicions) return refuse('REWOUND');
    state.healedSuspicions = Math.max(state.healedSuspicions, suspicions);
    if (!this.isTooFarAhead(siteClock, now)) this.raiseClockTo(siteClock);
    const { recoveredOwnStamp } = state;
    if (recoveredOwnStamp > state.lastOwnStamp) {
      // No own entry has the recovered writes any more, so other sites that lack them must copy the
      // partition too.
      state.lastOwnStamp = recoveredOwnStamp;
      this.raiseClockTo(recoveredOwnStamp);
      state.own.restart(recoveredOwnStamp);
    }
    return { clock: state.clock, lastOwnStamp: state.lastOwnStamp };
  }

  /**
   * Moves the cursor after a resync. What is received moves with the next pull only (CAUSAL-14).
   */
  seek({ source, expectedCursor, cursor }: SeekRequest): object {
    if (!this.isCursorAt(source, expectedCursor)) return refuse('STALE');
    this.state.cursors = this.state.cursors.with(source, cursor);
    return DONE;
  }

  // The rules, one by one.

  /** CAUSAL-8: a partition whose clock is wrong answers no client. */
  isClockOff({ siteTime }: TimedRequest, now: Stamp): boolean {
    const { maxClockSkew, requestTimeout } = this.limits;
    // A delayed request carries an older time.
    return siteTime - now > maxClockSkew || now - siteTime > maxClockSkew + requestTimeout;
  }

  /** CAUSAL-8: no stamp may pull the clock of the partition into the future. */
  isTooFarAhead(stamp: Stamp, now: Stamp): boolean {
    return stamp > now + this.limits.maxClockSkew;
  }

  /** CAUSAL-13. */
  hasLostWrites({ lastSeen }: FencedRequest): boolean {
    return this.state.lastOwnStamp < lastSeen || this.#isSuspect();
  }

  /**
   * CAUSAL-13: a snapshot contains only writes that all partitions had received. So a partition
   * that is behind a snapshot has lost writes.
   */
  isBehind(snapshot: Vector): boolean {
    return !isRemotelyCovered(snapshot, this.state.received, this.site);
  }

  /** CAUSAL-17. */
  findRepeatedWrite(id: string): Stamp | undefined {
    return this.state.own.getStampOfId(id);
  }

  /** CAUSAL-1 and CAUSAL-2. */
  chooseStamp(request: PutRequest, chain: VersionChain, now: Stamp): Stamp {
    const causal = this.getHighestDependency(request.dependencies) + 1;
    const visible = withStamp(request.stable, this.site, Infinity);
    const overwritten = findVisibleVersion(chain, visible);
    const newest = overwritten === undefined || overwritten === 'TOO_OLD' ? 0 : overwritten.stamp;
    return Math.max(now, this.state.clock + 1, causal, newest + 1);
  }

  /** CAUSAL-1. */
  getHighestDependency(dependencies: Vector): Stamp {
    return Math.max(0, ...dependencies);
  }

  /** CAUSAL-4: no later write gets a stamp inside a snapshot that was read. */
  raiseClockTo(stamp: Stamp): void {
    this.state.clock = Math.max(this.state.clock, stamp);
  }

  /** CAUSAL-7. */
  findVersion(chain: VersionChain, snapshot: Vector): Version | 'TOO_OLD' | undefined {
    return findVisibleVersion(chain, snapshot);
  }

  /** CAUSAL-10: a promise holds even if the partition that made it has lost its state. */
  keepPromise({ promiseHeld }: PullRequest): Stamp {
    return promiseHeld;
  }

  /** CAUSAL-10: the promise covers no entry that did not fit into the reply. */
  choosePromise(entries: readonly OwnEntry[], lastSent: number | undefined): Stamp {
    const { own, clock } = this.state;
    const isComplete = lastSent === undefined || lastSent === own.last.entry;
    return isComplete ? clock : (entries.at(-1)?.stamp ?? 0);
  }

  /**
   * CAUSAL-10: a partition that has lost writes cannot know that. So it promises only what its
   * gateway, which has seen the writes, has confirmed since.
   */
  getConfirmedStamp(): Stamp {
    return this.state.confirmedUntil;
  }

  /** CAUSAL-11. */
  isCursorAt(source: SiteIndex, { entry, stamp }: { entry: number; stamp: Stamp }): boolean {
    const cursor = this.state.cursors[source];
    return cursor?.entry === entry && cursor.stamp === stamp;
  }

  /** CAUSAL-18: how long a delete is remembered. */
  getTombstoneLifetime(): Stamp {
    return this.limits.keepTombstonesFor;
  }

  /** CAUSAL-18: no older write of another site can arrive any more. */
  isReceivedFromAll({ stamp }: Version): boolean {
    return this.state.received.every((received, other) => other === this.site || stamp <= received);
  }

  #confirm(request: StateRequest, now: Stamp): void {
    const { state } = this;
    if (state.lastOwnStamp < request.lastSeen) return this.#noteSuspicion();
    if (this.#isSuspect() || this.isClockOff(request, now)) return;
    // A poll may be delayed. Since it was sent, another server may have taken over and accepted
    // writes that are not here. So confirm only up to the time of the poll.
    const knownUntil = Math.min(Math.max(state.clock, now), request.siteTime);
    state.confirmedUntil = Math.max(state.confirmedUntil, knownUntil);
  }

  #isSuspect(): boolean {
    return this.state.suspicions > this.state.healedSuspicions;
  }

  #noteSuspicion(): void {
    if (!this.#isSuspect()) this.state.suspicions += 1;
  }

  #getChain(key: string): VersionChain {
    return this.state.chains.get(key) ?? EMPTY_CHAIN;
  }

  #store(key: string, chain: VersionChain, stable: Vector, now: Stamp): void {
    this.#setChain(key, this.#trim(chain, stable, now));
  }

  #setChain(key: string, chain: VersionChain): void {
    const [previous] = getVersions(this.#getChain(key));
    const [newest] = getVersions(chain);
    this.state.chains.set(key, chain);
    if (newest !== undefined && newest !== previous) this.#noteRemovable(key, newest);
  }

  #trim(chain: VersionChain, stable: Vector, now: Stamp): VersionChain {
    return trimChain(chain, {
      keepFrom: now - this.limits.keepVersionsFor,
      stable: withStamp(stable, this.site, this.state.clock),
      maxVersions: this.limits.maxVersions,
      maxVersionBytes: this.limits.maxVersionBytes,
    });
  }

  #noteRemovable(key: string, newest: Version): void {
    const dueAt = this.#computeDueTime(newest);
    if (dueAt !== undefined) this.state.removable.add({ key, dueAt });
  }

  /** CAUSAL-18: from when on a tombstone or an expired value may be dropped. */
  #computeDueTime({ kind, stamp, expiresAt }: Version): Stamp | undefined {
    if (kind !== 'tombstone' && expiresAt === 0) return undefined;
    return Math.max(stamp, expiresAt) + this.getTombstoneLifetime();
  }

  /**
   * CAUSAL-18. Checks some keys. It does not run in each poll, because most keys are not due for a
   * long time.
   */
  #dropRemovable(stable: Vector, now: Stamp): void {
    const { removable } = this.state;
    const interval = Math.floor(this.getTombstoneLifetime() / REMOVAL_CHECKS);
    const elapsed = now - removable.checkedAt;
    // A clock that was set back must not stop the checks.
    if (elapsed >= 0 && elapsed < interval) return;
    let hasDropped = false;
    for (const item of removable.take()) if (this.#dropIfDue(item, stable, now)) hasDropped = true;
    if (!hasDropped) removable.checkedAt = now;
  }

  /** Returns whether the key was dropped. One that is not due is queued again. */
  #dropIfDue(item: RemovableKey, stable: Vector, now: Stamp): boolean {
    const { chains, removable } = this.state;
    const { key, dueAt } = item;
    const chain = this.#trim(this.#getChain(key), stable, now);
    const [newest, ...older] = getVersions(chain);
    // The key was written again since it was queued.
    if (newest === undefined || this.#computeDueTime(newest) !== dueAt) return false;
    if (dueAt <= now && older.length === 0 && this.isReceivedFromAll(newest))
      return chains.delete(key);
    removable.add(item);
    return false;
  }

  #pruneEntries(now: Stamp): number {
    const { own, acknowledged } = this.state;
    const { keepIdsFor, maxOwnEntries, maxOwnEntryBytes } = this.limits;
    const others = acknowledged.filter((_, site) => site !== this.site);
    return own.prune({
      acknowledged: this.#siteCount === 1 ? own.last.entry : Math.min(...others),
      keepIdsFrom: now - keepIdsFor,
      maxEntries: maxOwnEntries,
      maxBytes: maxOwnEntryBytes,
    });
  }
}

function refuse(refused: RefusalReason): Refusal {
  return { refused };
}
