/**
 * Brings the writes of another site to one partition (CAUSAL-10, CAUSAL-11, CAUSAL-14, CAUSAL-19).
 *
 * Each step is a call through the port, and no state is kept between two runs, because the
 * partition stores the cursor. So several gateways may replicate the same partition, and a gateway
 * may stop anywhere.
 */
import {
  findOldestVersion,
  hideForgottenKeys,
  readForgottenUpTo,
  type CopiedChains,
  type OldestVersion,
} from './forgotten-keys.ts';
import type { CausalLimits } from './limits.ts';
import {
  isRefusal,
  type ApplyReply,
  type Cursor,
  type PartitionAddress,
  type PartitionPort,
  type PullReply,
  type Refusal,
  type ScanReply,
  type StateReply,
} from './partition-calls.ts';
import { getStamp, type SiteIndex, type Stamp, type Vector } from './stamps.ts';

/** What the replicator needs to know of its site. */
export interface ReplicationContext {
  readonly stable: Vector;
  readonly siteClock: Stamp;
  readonly siteTime: Stamp;
  /** The highest own stamp of the target that the gateway has seen (CAUSAL-13). */
  readonly lastSeen: Stamp;
  /** CAUSAL-19. */
  isFarAhead(received: Stamp, source: SiteIndex): boolean;
}

/** The progress of a partition with a source. */
export interface Position {
  readonly cursor: Cursor;
  /** The stamp up to which it has received the writes of the source. */
  readonly received: Stamp;
}

/** How a run ended. `entries` is the number of entries that were applied. */
export type ReplicationResult =
  | {
      readonly done: 'applied';
      readonly entries: number;
      readonly belowPromise: number;
      readonly position: Position;
    }
  | { readonly done: 'paused' }
  | { readonly done: 'resynced' }
  | Refusal;

export interface Replication {
  readonly port: PartitionPort;
  readonly limits: CausalLimits;
  /** The partition that receives. */
  readonly target: PartitionAddress;
  readonly source: SiteIndex;
  /** Where the last run ended, if this gateway knows it. It saves a call to the partition. */
  readonly position: Position | undefined;
  readonly context: ReplicationContext;
}

type OnEnd = (result: ReplicationResult) => void;

/**
 * Pulls once, and applies the entries of the reply (CAUSAL-10, CAUSAL-11). Resyncs if the source
 * lacks the cursor (CAUSAL-14).
 */
export function pullOnce(replication: Replication, onEnd: OnEnd): void {
  findPosition(replication, (position) => {
    if (isRefusal(position)) return onEnd(position);
    const { port, target, source, limits, context } = replication;
    const { cursor, received } = position;
    if (context.isFarAhead(received, source)) return onEnd({ done: 'paused' });
    const request = {
      requester: target.site,
      siteTime: context.siteTime,
      cursor,
      promiseHeld: received,
      maxEntries: limits.maxPulledEntries,
    };
    port.call({ ...target, site: source }, 'pull', request, (pulled) => {
      if (!isRefusal(pulled)) return applyPulled({ replication, position, pulled }, onEnd);
      if (pulled.refused !== 'LOST') return onEnd(pulled);
      resyncIfStillAt(replication, cursor, onEnd);
    });
  });
}

/** Another gateway may have moved the cursor since: then `apply` answers `STALE`. */
function findPosition(
  replication: Replication,
  onFound: (position: Position | Refusal) => void,
): void {
  const { position, source } = replication;
  if (position !== undefined) return onFound(position);
  readState(replication, (state) => {
    if (isRefusal(state)) return onFound(state);
    onFound({ cursor: getCursor(state, source), received: getStamp(state.received, source) });
  });
}

interface Pulled {
  readonly replication: Replication;
  readonly position: Position;
  readonly pulled: PullReply;
}

function applyPulled({ replication, position, pulled }: Pulled, onEnd: OnEnd): void {
  const { port, target, source, context } = replication;
  const request = {
    source,
    expectedCursor: position.cursor,
    cursor: pulled.cursor,
    promise: pulled.promise,
    entries: pulled.entries,
    stable: context.stable,
  };
  port.call(target, 'apply', request, (applied: ApplyReply | Refusal) => {
    if (isRefusal(applied)) return onEnd(applied);
    const { belowPromise } = applied;
    const received = Math.max(position.received, pulled.promise);
    onEnd({
      done: 'applied',
      entries: pulled.entries.length,
      belowPromise,
      position: { cursor: pulled.cursor, received },
    });
  });
}

/** Another gateway may have moved the cursor meanwhile: then the source has lost nothing. */
function resyncIfStillAt(replication: Replication, cursor: Cursor, onEnd: OnEnd): void {
  readState(replication, (state) => {
    if (isRefusal(state)) return onEnd(state);
    const { entry, stamp } = getCursor(state, replication.source);
    if (entry !== cursor.entry || stamp !== cursor.stamp) return onEnd({ refused: 'STALE' });
    resync(replication, { hasLostState: false }, onEnd);
  });
}

/**
 * Copies all chains of the partition from the source, and continues from the last entry that the
 * source had at the start (CAUSAL-14). The received vector does not change before the next pull, so
 * reads continue at the old snapshot (CAUSAL-15).
 */
export function resync(
  replication: Replication,
  { hasLostState }: { readonly hasLostState: boolean },
  onEnd: OnEnd,
): void {
  readState(replication, (state) => {
    if (isRefusal(state)) return onEnd(state);
    const copy = isAwayForTooLong(replication, state) ? copyAfterAbsence : copyChains;
    readSourceEnd(replication, (end) => {
      if (isRefusal(end)) return onEnd(end);
      copy({ replication, hasLostState }, (copied) => {
        if (isRefusal(copied)) return onEnd(copied);
        seekTo(replication, getCursor(state, replication.source), { end, onEnd });
      });
    });
  });
}

function readState(
  { port, target, context }: Replication,
  onReply: (reply: StateReply | Refusal) => void,
): void {
  const { siteClock, stable, siteTime, lastSeen } = context;
  port.call(target, 'state', { siteClock, stable, siteTime, lastSeen }, onReply);
}

/** Returns the last entry of the source, as a cursor. */
function readSourceEnd(
  { port, target, source }: Replication,
  onReply: (reply: Cursor | Refusal) => void,
): void {
  port.call({ ...target, site: source }, 'lastEntry', {}, onReply);
}

interface ChainCopy {
  readonly replication: Replication;
  readonly hasLostState: boolean;
}

/** Receives the oldest versions of the source, or the refusal that stopped the copy. */
type OnCopied = (result: CopiedChains | Refusal) => void;

function copyChains(copy: ChainCopy, onEnd: OnCopied): void {
  copyPage(copy, { page: '', oldest: new Map() }, onEnd);
}

function copyPage(
  copy: ChainCopy,
  { page, oldest }: { readonly page: string; readonly oldest: Map<string, OldestVersion> },
  onEnd: OnCopied,
): void {
  const { replication, hasLostState } = copy;
  const { port, target, source, limits } = replication;
  const request = { page, maxKeys: limits.maxScannedKeys };
  port.call({ ...target, site: source }, 'scan', request, (scanned: ScanReply | Refusal) => {
    if (isRefusal(scanned)) return onEnd(scanned);
    const { chains, nextPage } = scanned;
    for (const [key, chain] of chains) {
      const version = findOldestVersion(chain);
      if (version !== undefined) oldest.set(key, version);
    }
    port.call(target, 'merge', { chains, hasLostState }, (merged) => {
      if (isRefusal(merged)) onEnd(merged);
      else if (nextPage === undefined) onEnd({ oldest });
      else copyPage(copy, { page: nextPage, oldest }, onEnd);
    });
  });
}

/** CAUSAL-18: values whose deletes the source has forgotten must not come back from here. */
function copyAfterAbsence(copy: ChainCopy, onEnd: OnCopied): void {
  const { replication } = copy;
  readForgottenUpTo(replication, (before) => {
    if (isRefusal(before)) return onEnd(before);
    copyChains(copy, (copied) => {
      if (isRefusal(copied)) return onEnd(copied);
      readForgottenUpTo(replication, (after) => {
        if (isRefusal(after)) return onEnd(after);
        const source = {
          oldest: copied.oldest,
          forgottenBefore: before.forgottenUpTo,
          forgottenAfter: after.forgottenUpTo,
        };
        hideForgottenKeys(replication, source, (hidden) =>
          onEnd(isRefusal(hidden) ? hidden : copied),
        );
      });
    });
  });
}

function seekTo(
  { port, target, source }: Replication,
  expectedCursor: Cursor,
  { end, onEnd }: { readonly end: Cursor; readonly onEnd: OnEnd },
): void {
  port.call(target, 'seek', { source, expectedCursor, cursor: end }, (reply) =>
    onEnd(isRefusal(reply) ? reply : { done: 'resynced' }),
  );
}

/**
 * CAUSAL-18: returns whether the source may have forgotten deletes that are not here. The limit is
 * half of the time that deletes are remembered, because the source continues to forget during the
 * copy.
 */
function isAwayForTooLong({ source, limits }: Replication, state: StateReply): boolean {
  return getStamp(state.received, source) < state.physicalClock - limits.keepTombstonesFor / 2;
}

function getCursor({ cursors }: StateReply, source: SiteIndex): Cursor {
  return cursors[source] ?? { entry: 0, stamp: 0 };
}
