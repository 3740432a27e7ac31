/** What goes into a replica and what comes out: all that it knows of the world outside. */
import type { CorrectableError } from '../../correctable/errors.ts';
import type { CertifierLimits, Conflict } from './certifier.ts';
import type { Windows } from '../log/windows.ts';
import type { HybridClock } from './clock.ts';
import type { Coverage } from './coverage.ts';
import type { GeneratorOptions } from './generator-run.ts';
import type {
  BlueMessage,
  BlueOperation,
  LocalEntry,
  OperationId,
  RedOperation,
  RedRecord,
  SlotMessage,
} from './records.ts';
import type { Reply } from './reply.ts';
import type { Service } from './service.ts';
import type { SiteState } from './site-state.ts';
import type { Vector } from './vector.ts';

/** Where an operation comes from that may be submitted again, here or at another site. */
export interface Origin {
  readonly id: OperationId;
  /** Index of the site that it was sent to first: its log is where the walk begins. */
  readonly home: number;
  /** How often its client had changed sites with it: 0 at home. */
  readonly hop: number;
  /** Its client has the answers of its operations up to this number and will not ask for them again. */
  readonly acknowledged: number;
}

/** An operation submitted at a site. */
export interface Submission {
  /** Names the submission within this start of the replica; grows with each. */
  readonly token: number;
  readonly operation: string;
  /** Parsed by the contract. */
  readonly args: unknown;
  /** Given by whoever may submit it again; then it takes effect once all the same. */
  readonly origin?: Origin | undefined;
  /** Present in a session: what the session has seen, which every view must contain. */
  readonly after?: Vector | undefined;
  /** Seeds the generator's `random`: an unsigned 32-bit number. */
  readonly seed: number;
  /** By the clock of the site, in milliseconds since the epoch. */
  readonly submittedAtMs: number;
  readonly wants: { readonly tentative: boolean; readonly causal: boolean; readonly strong: boolean };
}

/** What is asked of a site: whoever hands it to the replica adds the rest. */
export type SubmissionRequest = Omit<Submission, 'token' | 'seed' | 'submittedAtMs'>;

/**
 * How far along a view is: a guess, in the stable snapshot, in the red order; or for good by the log of one site, which
 * reaches `causal` and never more.
 */
export type Stage = 'tentative' | 'causal' | 'strong' | 'committed';

/** What a replica wants done, in order. */
export type ReplicaOutput =
  | { readonly kind: 'send'; readonly to: number; readonly message: BlueMessage | SlotMessage }
  | { readonly kind: 'store'; readonly log: 'local'; readonly entries: readonly LocalEntry[] }
  | { readonly kind: 'propose'; readonly record: RedRecord }
  /** Nobody waits for it any more: not to be proposed, if that can still be. */
  | { readonly kind: 'withdraw'; readonly record: RedRecord }
  /** `committed` is the one view of an update that its own site has decided; nothing follows the `last`. */
  | {
      readonly kind: 'view';
      readonly token: number;
      readonly stage: Stage;
      readonly reply: Reply;
      readonly last: boolean;
      /** What the session has seen with this view; none of a guess, and outside of sessions. */
      readonly seen?: Vector | undefined;
    }
  /** Without a stage the operation failed as a whole, and nothing follows. */
  | {
      readonly kind: 'failed';
      readonly token: number;
      readonly error: CorrectableError;
      readonly stage?: Stage | undefined;
    };

/**
 * Sees what a replica does: for checkers and metrics. It is called in the middle of things, and what it throws would leave
 * these undone: only checkers of a simulation, which ends there, may.
 */
export interface ReplicaObserver {
  /** A generator run became an operation of this site. */
  created?(operation: BlueOperation | RedOperation): void;
  /** An operation became part of the stable snapshot of this site. */
  applied?(operation: BlueOperation | RedOperation, state: SiteState): void;
  /** A red operation was rejected by certification. */
  rejected?(operation: RedOperation, conflict: Conflict | undefined): void;
  /** A view that is no guess is given to a submission within a session. */
  viewed?(submission: Submission): void;
  /** The clock of a site is ahead of the one here by more than is allowed: what it stamps meanwhile is refused. */
  quarantined?(peer: number, aheadMs: number): void;
  /** The site's stamps can be taken again. */
  released?(peer: number): void;
}

/** How a replica is set up. */
export interface ReplicaOptions {
  readonly service: Service;
  /** Index of this site in `sites`. */
  readonly site: number;
  readonly sites: readonly string[];
  /**
   * Names this start, as `epochOf` does: larger than at any earlier one of this site that its files tell of, and the same
   * at no other one, whatever of its past was lost.
   */
  readonly start: number;
  /** How long to wait for a peer before asking again. */
  readonly resendAfterMs: number;
  /** Removals that the site applies between two floors (`floors.ts`). */
  readonly removalsPerFloor?: number | undefined;
  /** Times that a rejected operation is executed before it fails with `CONFLICT`. */
  readonly attemptsMax: number;
  /** How long another site's log may be out of reach before an operation that was sent there first is `UNKNOWN`. */
  readonly reachTimeoutMs: number;
  /** How long an operation waits until the site has what its session has seen, before `SESSION_BEHIND`. */
  readonly sessionWaitMs: number;
  /** How far the clock of a site may be ahead of the clock here. */
  readonly maxClockSkewMs: number;
  /** What certification and the tables of identifiers remember, alike at all sites; as usual unless given. */
  readonly remembers?: CertifierLimits | undefined;
  /** Red updates and strong reads under way at most: what waits for the red order leaves room for all else. */
  readonly redInFlightMax?: number | undefined;
  /** Own undecided red operations that may lie under the run of another; the default unless given. */
  readonly chainMax?: number | undefined;
  /** How much is on its way to a site; the defaults unless given. */
  readonly windows?: Partial<Windows> | undefined;
  /** Bounds of generators, and the clock that measures them. */
  readonly generators?: GeneratorOptions | undefined;
  readonly observer?: ReplicaObserver | undefined;
}

/** What the parts of a replica share. */
export interface ReplicaCore {
  readonly options: ReplicaOptions;
  readonly state: SiteState;
  readonly clock: HybridClock;
  readonly coverage: Coverage<Submission>;
  /** The time of the input being handled by a clock that only runs forward: for what waits and is sent again. */
  readonly nowMs: number;
  /** The same by the clock that people set, in milliseconds since the epoch: for stamps. */
  readonly wallMs: number;
  /** Records of the red log that were delivered here, from its beginning. */
  readonly redDelivered: number;
  /** Whether a submission of the operation waits here to begin, or for what became of it elsewhere. */
  isWaitedFor(id: OperationId): boolean;
  emit(output: ReplicaOutput): void;
  /** Whether a stamp that comes from `peer` itself may be taken: not while the clock that made it is too far ahead. */
  acceptsStamp(peer: number, stamp: number): boolean;
  /** Writes to the site's own log; `onSynced` runs once the entry is synced, with its place in that log. */
  store(entry: LocalEntry, onSynced: (position: number) => void): void;
}
