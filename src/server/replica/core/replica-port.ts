/** How a replica is set up, who watches it, and what its parts share. */
import type { CertifierLimits } from '../../records/retention-limits.ts';
import type { Conflict } from '../../records/certification-result.ts';
import type { SendWindows } from '../../records/send-windows.ts';
import type { HybridClock } from '../../records/clock.ts';
import type { CoverageWaiters } from './coverage-waiters.ts';
import type { GeneratorOptions } from '../../generator/generator-runner.ts';
import type { DeploymentVersion } from '../../records/deployment-version.ts';
import type { Origin, Origins } from '../../records/origin.ts';
import type {
  BlueOperation,
  LocalEntry,
  OperationId,
  RedOperation,
} from '../../records/records.ts';
import type { ReplyOrError } from '../../records/reply.ts';
import type { Service } from '../../service/service.ts';
import type { RightsPort } from './rights-port.ts';
import type { SiteState } from './site-state.ts';
import type { ReplicaOutput } from '../../records/replica-output.ts';
import type { Stage, Submission } from '../../records/submissions.ts';

/**
 * Sees what a replica does: for checkers and metrics. It is called in the
 * middle of things, and what it throws would leave these undone: only checkers
 * of a simulation, which ends there, may.
 */
export interface ReplicaObserver {
  /** A generator run became an operation of this site. */
  onCreated?(operation: BlueOperation | RedOperation): void;
  /** An operation became part of the stable snapshot of this site. */
  onApplied?(operation: BlueOperation | RedOperation, state: SiteState): void;
  /** A red operation was rejected by certification. */
  onRejected?(operation: RedOperation, conflict: Conflict | undefined): void;
  /** A view that is no guess is given to a submission within a session. */
  onViewed?(submission: Submission): void;
  /**
   * The clock of a site is ahead of the one here by more than is allowed: what
   * it stamps meanwhile is refused.
   */
  onQuarantined?(peer: Origin, aheadMs: number): void;
  /**
   * The own clock is behind by so much: as the own log shows, or the clocks of
   * most others.
   */
  onClockBehind?(byMs: number, shownBy: 'log' | 'sites'): void;
  /**
   * A site is heard, and has confirmed nothing for long of so many entries that
   * it lacks.
   */
  onStalled?(peer: Origin, backlog: number): void;
  /**
   * A site has been away for too long: nothing is kept for it before it is
   * back.
   */
  onLeftBehind?(peer: Origin): void;
  /**
   * Too many sites are away to leave them behind: everything is kept for them.
   * If `isFull`, updates are refused.
   */
  onCutOff?(peers: readonly Origin[], isFull: boolean): void;
  /** The site's stamps can be taken again. */
  onReleased?(peer: Origin): void;
}

/** What a site runs, and what was in force when its deployment was created. */
export interface RunningVersion {
  readonly own: DeploymentVersion;
  readonly founding: DeploymentVersion;
}

export interface ReplicaOptions {
  readonly service: Service;
  /**
   * Set if sites may run different versions. Default: all that the site runs is
   * in force
   */
  readonly version?: RunningVersion | undefined;
  readonly site: Origin;
  readonly origins: Origins;
  /** The site that gives the red order, where one does. */
  readonly redLeader?: Origin | undefined;
  /**
   * Of this start, as `createEpoch` makes it: no other start has it, and those
   * that its files know have smaller ones.
   */
  readonly epoch: number;
  /** How long to wait for a peer before asking again. */
  readonly resendAfterMs: number;
  /**
   * Removals that the site applies between two floors (`low-watermarks.ts`).
   */
  readonly removalsPerWatermark?: number | undefined;
  /**
   * Times that a rejected operation is executed before it fails with
   * `CONFLICT`.
   */
  readonly maxAttempts: number;
  /**
   * How long another site's log may be out of reach before an operation that
   * was sent there first is `UNKNOWN`.
   */
  readonly reachTimeoutMs: number;
  /**
   * How long an operation waits until the site has what its session has seen,
   * before `REPLICA_BEHIND`.
   */
  readonly sessionTimeoutMs: number;
  /** How far the clock of a site may be ahead of the clock here. */
  readonly maxClockSkewMs: number;
  /**
   * What certification and the tables of identifiers remember, alike at all
   * sites; as usual unless given.
   */
  readonly retentionLimits?: CertifierLimits | undefined;
  /**
   * Red updates and strong reads in flight at most: what waits for the red
   * order leaves room for all else.
   */
  readonly maxRedInFlight?: number | undefined;
  /**
   * Own undecided red operations that may lie under the run of another; the
   * default unless given.
   */
  readonly maxPipelineLength?: number | undefined;
  /** How much is on its way to a site; the defaults unless given. */
  readonly windows?: Partial<SendWindows> | undefined;
  /** How large a red operation may be, about. Default: as large as any other */
  readonly maxRedBytes?: number | undefined;
  /** Bounds of generators, and the clock that measures them. */
  readonly generators?: GeneratorOptions | undefined;
  readonly observer?: ReplicaObserver | undefined;
  /**
   * Whether answers of operations received of other sites are kept, and given
   * while those are down.
   */
  readonly keepsReceivedReplies?: boolean | undefined;
}

export interface ReplicaCore {
  readonly options: ReplicaOptions;
  readonly state: SiteState;
  readonly clock: HybridClock;
  readonly coverage: CoverageWaiters;
  /** None where the service has no bounded field. */
  readonly rights: RightsPort | undefined;
  /**
   * The time of the input being handled by a clock that only runs forward: for
   * what waits and is sent again.
   */
  readonly nowMs: number;
  /**
   * The same by the clock that people set, in milliseconds since the epoch: for
   * stamps.
   */
  readonly wallMs: number;
  /** Records of the red log that were delivered here, from its beginning. */
  readonly redDelivered: number;
  /**
   * Whether a submission of the operation waits here to begin, or for what
   * became of it elsewhere.
   */
  hasWaiter(id: OperationId): boolean;
  emit(output: ReplicaOutput): void;
  /**
   * Whether a stamp that comes from `peer` itself may be taken: not while the
   * clock that made it is too far ahead.
   */
  acceptsStamp(peer: Origin, stamp: number): boolean;
  reply(submission: Submission, stage: Stage, answer: ReplyOrError): void;
  /**
   * Own blue operations: the last one applied, and the last one that would
   * survive the loss of this site.
   */
  ownBlueProgress(): { readonly applied: number; readonly durable: number };
  /**
   * Writes to the site's own log; `onSynced` runs once the entry is synced,
   * with its place in that log.
   */
  store(entry: LocalEntry, onSynced: (position: number) => void): void;
}
