/**
 * The calls of a gateway to a partition, and the port that carries them.
 *
 * A partition executes each call as a whole, like a script. So it can be an object in this process,
 * a simulated server, or a script in a store. Replies and refusals are data, since they may cross a
 * network.
 */
import type { SiteIndex, Stamp, Vector } from './stamps.ts';
import type { Version } from './version.ts';
import type { VersionChain } from './version-chain.ts';

/**
 * Why a call had no effect, or may have had none.
 *
 * - `CLOCK`: the clock of the partition, or a stamp of the call, is too far off (CAUSAL-8).
 * - `REWOUND`: the partition has lost writes that the gateway has seen (CAUSAL-13).
 * - `BEHIND`: the partition has lost writes of other sites (CAUSAL-13).
 * - `TOO_OLD`: the partition has dropped what the snapshot needs (CAUSAL-7).
 * - `STALE`: another gateway has moved the cursor (CAUSAL-11).
 * - `LOST`: the source no longer has the entry at the cursor (CAUSAL-14).
 * - `FULL`: the store of the partition has no memory left.
 * - `NOT_EXECUTED`: the store of the partition does not run calls now. `detail` says why.
 * - `STARTING`: no gateway of the site knows enough of it yet (CAUSAL-13).
 * - `UNREACHABLE`: no reply came. The call may have been executed.
 */
export type RefusalReason =
  | 'CLOCK'
  | 'REWOUND'
  | 'BEHIND'
  | 'TOO_OLD'
  | 'STALE'
  | 'LOST'
  | 'FULL'
  | 'NOT_EXECUTED'
  | 'STARTING'
  | 'UNREACHABLE';

export interface Refusal {
  readonly refused: RefusalReason;
  /** Why, in words for the caller of the operation. */
  readonly detail?: string;
  /** Tells causes that only an operator can remove from those that pass. */
  readonly code?: RefusalCode;
}

/**
 * - `UNAUTHENTICATED`: the store refuses the password of this process.
 * - `UNAVAILABLE`: this process does not trust the certificate of the store.
 * - `FORBIDDEN`: the store refuses a command to the user of this process.
 * - `INVALID_VALUE`: the partition is no partition: another program has written it.
 * - `OVERLOADED`: the store has no room for another connection.
 */
export type RefusalCode =
  | 'UNAUTHENTICATED'
  | 'UNAVAILABLE'
  | 'FORBIDDEN'
  | 'INVALID_VALUE'
  | 'OVERLOADED';

export function isRefusal(reply: object): reply is Refusal {
  return 'refused' in reply;
}

/** A call to a partition that must not act on a wrong clock (CAUSAL-8). */
export interface TimedRequest {
  /** The time of the calling site, as its gateway computes it. */
  readonly siteTime: Stamp;
}

/**
 * The fields of each call for a client: what the gateway knows of the time and of the partition.
 */
export interface FencedRequest extends TimedRequest {
  /** The highest stamp of this partition's own writes that the gateway has seen (CAUSAL-13). */
  readonly lastSeen: Stamp;
}

export interface PutRequest extends FencedRequest {
  readonly key: string;
  readonly kind: 'value' | 'tombstone';
  readonly value: unknown;
  /** Microseconds until the key reads as absent; 0 if it does not expire. */
  readonly ttl: Stamp;
  /** Identifies the write: a repetition gets the first reply (CAUSAL-17). */
  readonly id: string;
  readonly dependencies: Vector;
  readonly stable: Vector;
}

export interface PutReply {
  readonly stamp: Stamp;
  /** How many own entries were dropped although a site lacks them (CAUSAL-16). */
  readonly droppedEntries: number;
}

export interface SnapshotRequest {
  readonly atLeast: Stamp;
}

export interface SnapshotReply {
  readonly clock: Stamp;
}

export interface ReadRequest extends FencedRequest {
  readonly keys: readonly string[];
  readonly snapshot: Vector;
  /**
   * Whether to answer although the partition lacks versions of the snapshot. `latest` reads all
   * sites, which have all versions together (CAUSAL-22).
   */
  readonly acceptsMissing: boolean;
}

export interface ReadReply {
  /** The newest version of each key in the snapshot. */
  readonly versions: readonly (Version | undefined)[];
  readonly clock: Stamp;
}

export interface StateRequest extends FencedRequest {
  /** The highest own stamp of the site, which the partition moves up to (Alg. 2, lines 37–38). */
  readonly siteClock: Stamp;
  readonly stable: Vector;
}

export interface StateReply {
  /** The physical clock of the partition. */
  readonly physicalClock: Stamp;
  readonly clock: Stamp;
  readonly lastOwnStamp: Stamp;
  readonly received: Vector;
  readonly cursors: readonly Cursor[];
  /** How often a loss of state was detected. */
  readonly suspicions: number;
  readonly healedSuspicions: number;
}

/** A place in the own entries of a partition at another site. */
export interface Cursor {
  readonly entry: number;
  readonly stamp: Stamp;
}

/** A write, as it is replicated (CAUSAL-9). An entry without `write` marks where a heal ended. */
export interface OwnEntry {
  readonly stamp: Stamp;
  readonly id: string;
  readonly write: { readonly key: string; readonly version: Version } | undefined;
}

export interface PullRequest extends TimedRequest {
  readonly requester: SiteIndex;
  readonly cursor: Cursor;
  /**
   * The latest promise that the requester got: the source must never make a write at or below that
   * stamp (CAUSAL-10).
   */
  readonly promiseHeld: Stamp;
  readonly maxEntries: number;
}

export interface PullReply {
  readonly entries: readonly OwnEntry[];
  readonly cursor: Cursor;
  /** All own writes up to this stamp are in this reply or in earlier ones (CAUSAL-10). */
  readonly promise: Stamp;
}

export interface ApplyRequest {
  readonly source: SiteIndex;
  readonly expectedCursor: Cursor;
  readonly cursor: Cursor;
  readonly promise: Stamp;
  readonly entries: readonly OwnEntry[];
  readonly stable: Vector;
}

export interface ApplyReply {
  /** How many writes came below the promise: the source has broken it (CAUSAL-11). */
  readonly belowPromise: number;
}

export interface ScanRequest {
  /** The `nextPage` of the page before; '' for the first one. */
  readonly page: string;
  /** About how many chains a page has. */
  readonly maxKeys: number;
}

export interface ScanReply {
  readonly chains: readonly (readonly [key: string, chain: VersionChain])[];
  /** `undefined` after the last page. */
  readonly nextPage: string | undefined;
}

export interface MergeRequest {
  readonly chains: ScanReply['chains'];
  /** Whether the partition has lost writes of its own, so that no old version is trusted. */
  readonly hasLostState: boolean;
}

export interface SeekRequest {
  readonly source: SiteIndex;
  readonly expectedCursor: Cursor;
  readonly cursor: Cursor;
}

export interface Suspicion {
  readonly suspicions: number;
}

export interface ConfirmRequest extends Suspicion {
  /** The clock of the site. The partition raises its own to it, so that later stamps are higher. */
  readonly siteClock: Stamp;
}

/** A partition when its heal ended, before any client wrote to it. */
export type HealedState = Pick<StateReply, 'clock' | 'lastOwnStamp'>;

export interface PartitionCalls {
  readonly put: { readonly request: PutRequest; readonly reply: PutReply };
  readonly snapshot: { readonly request: SnapshotRequest; readonly reply: SnapshotReply };
  readonly read: { readonly request: ReadRequest; readonly reply: ReadReply };
  readonly state: { readonly request: StateRequest; readonly reply: StateReply };
  readonly pull: { readonly request: PullRequest; readonly reply: PullReply };
  readonly apply: { readonly request: ApplyRequest; readonly reply: ApplyReply };
  /** Returns the entry from which a resync will continue. */
  readonly lastEntry: { readonly request: object; readonly reply: Cursor };
  readonly scan: { readonly request: ScanRequest; readonly reply: ScanReply };
  readonly merge: { readonly request: MergeRequest; readonly reply: object };
  readonly seek: { readonly request: SeekRequest; readonly reply: object };
  /**
   * Refuses all clients until `confirmHealed` is called with the number that this returns
   * (CAUSAL-13).
   */
  readonly suspect: { readonly request: object; readonly reply: Suspicion };
  readonly confirmHealed: { readonly request: ConfirmRequest; readonly reply: HealedState };
}

export type CallName = keyof PartitionCalls;

export interface PartitionAddress {
  readonly site: SiteIndex;
  readonly partition: number;
}

/** The knowledge of a gateway about its site. */
export interface SiteView {
  readonly stable: Vector;
  readonly siteTime: Stamp;
  /** The highest own stamp of each partition that the gateway has seen. */
  readonly lastSeen: readonly Stamp[];
  /** When each partition was last healed. From then on, its `lastSeen` may be lower (CAUSAL-14). */
  readonly healedAt: readonly Stamp[];
  /**
   * The last own stamp of each partition right after that heal. What it had up to `healedAt` above
   * this stamp is lost.
   */
  readonly healedTo: readonly Stamp[];
}

/** Carries calls from a gateway to the partitions of all sites. */
export interface PartitionPort {
  /** Sends a call. `onReply` runs once, with `UNREACHABLE` if no reply comes. */
  call<N extends CallName>(
    address: PartitionAddress,
    name: N,
    request: PartitionCalls[N]['request'],
    onReply: (reply: PartitionCalls[N]['reply'] | Refusal) => void,
  ): void;
  /** Reads the view that a gateway of another site has of that site (CAUSAL-22). */
  getSiteView(site: SiteIndex, onReply: (reply: SiteView | Refusal) => void): void;
}
