/**
 * The options that the parts of a site have, its observer, and the core that they share. `Site` is
 * the only implementation of `SiteCore`: it imports its parts, and they must not import it back.
 */
import type { CertifierLimits } from '../../service/records/retention-limits.ts';
import type {
  CertificationDecision,
  Conflict,
} from '../../service/records/certification-result.ts';
import type { SendWindows } from '../../log/send-windows.ts';
import type { DigestFactory } from '../../log/prefix-digest.ts';
import type { HybridClock } from '../../log/clock.ts';
import type { CoverageWaiters } from './coverage-waiters.ts';
import type { GeneratorOptions } from '../../service/generator/generator-runner.ts';
import type { DeploymentVersion } from '../../service/records/deployment-version.ts';
import type { Origin, Origins } from '../../service/records/origin.ts';
import type {
  BlueOperation,
  GlobalOperation,
  LocalEntry,
  OperationId,
  RedDelivered,
  RedOperation,
  RedRecord,
} from '../../service/records/records.ts';
import type { ReplyOrError } from '../../service/records/reply.ts';
import type { Partitions } from '../../service/partitions.ts';
import type { Service } from '../../service/service.ts';
import type { RightsPort } from './rights-port.ts';
import type { MemoryLevel, MemoryPort, MemoryStatus } from './memory-port.ts';
import type { SiteState } from './site-state.ts';
import type { SiteOutputs } from './outputs.ts';
import type { Submission } from './submissions.ts';
import type { Stage } from '../answer.ts';
import type { MachineSizes } from '../../log/machine-sizes.ts';

/** A record that has passed the gate of a red log. */
export interface PassedRecord {
  /** The ordinal of the partition of the log. */
  readonly partition: number;
  readonly record: RedRecord;
  readonly decision: CertificationDecision;
  /** The own execution of a global that has ended by it without an effect. */
  readonly ended: GlobalOperation | undefined;
}

/** Rows of one partition that globals of one home log hold for long. */
export interface HeldRowsReport {
  /** The ordinals of the partition with the rows, and of the home. */
  readonly partition: number;
  readonly home: number;
  /** As `accounts/us/ann`. */
  readonly rows: readonly string[];
  /** Why one of both red logs orders nothing and what to do, if this site knows it. */
  readonly obstacle: string | undefined;
  /** The sites whose operations these globals depend on, and this site lacks. */
  readonly awaitedSites: readonly string[];
}

/**
 * Observes a site, for checkers and metrics. Callbacks run in the middle of a change, and an
 * error would leave the change unfinished. Only checkers of a simulation may throw, because the
 * simulation ends then.
 */
export interface SiteObserver {
  /** A generator run became an operation of this site. */
  onCreated?(operation: BlueOperation | RedOperation): void;
  /** An operation became part of the stable snapshot of this site. */
  onApplied?(operation: BlueOperation | RedOperation, state: SiteState): void;
  /** A red operation was rejected by certification. */
  onRejected?(operation: RedOperation, conflict: Conflict | undefined): void;
  /** One of several red logs has a record, which now waits at its gate. */
  onRedDelivered?(record: RedRecord): void;
  /** A record has passed the gate of one of several red logs. */
  onRedPassed?(passed: PassedRecord): void;
  /** A view that is no preview was given to a submission within a session. */
  onViewed?(submission: Submission): void;
  /**
   * The clock of a site is ahead of the own one by more than is allowed. Its stamps are refused
   * meanwhile.
   */
  onQuarantined?(peer: Origin, aheadMs: number): void;
  /** The own clock is behind by this much, as the own log or most other clocks show. */
  onClockBehind?(byMs: number, shownBy: 'log' | 'sites'): void;
  /**
   * A site sends messages, and has confirmed nothing for long although it lacks this many entries.
   */
  onStalled?(peer: Origin, backlog: number): void;
  /** A site has been away for too long: nothing is kept for it until it is back. */
  onLeftBehind?(peer: Origin): void;
  /**
   * Too many sites are away to leave them behind, so everything is kept for them. If `isFull`,
   * updates are refused.
   */
  onCutOff?(peers: readonly Origin[], isFull: boolean): void;
  /** The memory of this site has become low or full, or is enough again. */
  onMemoryLevel?(level: MemoryLevel, status: MemoryStatus): void;
  /** Rows were compared with those of another site. */
  onRowsCompared?(compared: ComparedRows): void;
  /** Globals have held rows for long. */
  onRowsHeld?(held: HeldRowsReport): void;
  /** The stamps of the site are taken again. */
  onReleased?(peer: Origin): void;
}

/** Rows of one table that were compared with those of another site. */
export interface ComparedRows {
  readonly peer: Origin;
  readonly table: string;
  /** The number of rows here. */
  readonly rows: number;
  /** The keys of rows that should be the same, and are not. */
  readonly differing: readonly string[];
  /** Whether all rows of all tables have been compared with those of the peer by that. */
  readonly isLast: boolean;
}

/** How a site compares its rows with those of others. */
export interface ComparisonLimits {
  /** The time between two comparisons. */
  readonly intervalMs: number;
  /** The maximum of rows in one comparison. */
  readonly maxRows: number;
}

/** The version that a site runs, and the one in force when its deployment was created. */
export interface RunningVersion {
  readonly own: DeploymentVersion;
  readonly founding: DeploymentVersion;
}

export interface PartOptions {
  readonly service: Service;
  /**
   * Set if sites may run different versions. Default: the version that the site runs is in force
   */
  readonly version?: RunningVersion | undefined;
  readonly site: Origin;
  readonly origins: Origins;
  /** Which red log orders which rows. Default: that of `main` orders all */
  readonly partitions?: Partitions | undefined;
  /** The site that sequences the red log, if one site does. */
  readonly redLeader?: Origin | undefined;
  /** The same of the red logs of other partitions, in the order of their ordinals. */
  readonly redLogs?: readonly { readonly leader: Origin }[] | undefined;
  /**
   * The number of this start, from `createEpoch`. No other start has it, and earlier ones that the
   * files show have smaller ones.
   */
  readonly epoch: number;
  /** How long to wait for a peer before a message is sent again. */
  readonly resendAfterMs: number;
  /**
   * The number of removals that the site applies between two low watermarks. Default:
   * `REMOVALS_PER_WATERMARK`
   */
  readonly removalsPerWatermark?: number | undefined;
  /** The number of times that a rejected operation is executed before it fails with `CONFLICT`. */
  readonly maxAttempts: number;
  /**
   * How long another site's log may be out of reach. After that an operation that was first sent
   * there fails with `UNKNOWN`.
   */
  readonly reachTimeoutMs: number;
  /**
   * How long an operation waits until the site has what its session has seen. After that it fails
   * with `REPLICA_BEHIND`.
   */
  readonly sessionTimeoutMs: number;
  /** How far the clock of a site may be ahead of the clock here. */
  readonly maxClockSkewMs: number;
  /**
   * The limits of certification and of the tables of identifiers, which are the same at all sites.
   * Default: `CERTIFIER_LIMITS`
   */
  readonly retentionLimits?: CertifierLimits | undefined;
  /**
   * The maximum of red updates and strong reads in flight. Operations that wait for the red order
   * leave room for others. Default: no limit
   */
  readonly maxRedInFlight?: number | undefined;
  /**
   * The maximum of own undecided red operations that another one may depend on. Default:
   * `MAX_PIPELINE_LENGTH`
   */
  readonly maxPipelineLength?: number | undefined;
  /** How much may be on its way to a site. Default: `DEFAULT_SEND_WINDOWS` */
  readonly windows?: Partial<SendWindows> | undefined;
  /** Default: 1000 rows each second */
  readonly comparisons?: ComparisonLimits | undefined;
  /** Default: `DEFAULT_MACHINE_SIZES` */
  readonly sizes?: MachineSizes | undefined;
  /** Creates the digests of streams and red logs. Default: `createPrefixDigest` */
  readonly createDigest?: DigestFactory | undefined;
  /** The approximate maximum of bytes of a red operation. Default: as for any other operation */
  readonly maxRedBytes?: number | undefined;
  /**
   * The approximate maximum of bytes that the site has in memory. Nothing that two sites have to
   * decide alike may depend on it. Default: no limit
   */
  readonly maxMemoryBytes?: number | undefined;
  /** How many bytes of them may be rows that the store of rows has too. Default: 64 MiB */
  readonly cacheBytes?: number | undefined;
  /** Bounds of generators, and the clock that measures them. */
  readonly generators?: GeneratorOptions | undefined;
  readonly observer?: SiteObserver | undefined;
  /**
   * Whether replies of operations that were received from other sites are kept, and given while
   * those sites are down.
   */
  readonly keepsReceivedReplies?: boolean | undefined;
}

export interface SiteCore {
  readonly options: PartOptions;
  readonly state: SiteState;
  readonly clock: HybridClock;
  readonly coverage: CoverageWaiters;
  readonly memory: MemoryPort;
  /** `undefined` if the service has no bounded field. */
  readonly rights: RightsPort | undefined;
  /** The time of the current input by a clock that only runs forward. It is for timeouts. */
  readonly nowMs: number;
  /** The same by the wall clock, in milliseconds since the epoch. It is for stamps. */
  readonly wallMs: number;
  /** The number of records of the red logs that were delivered here, from their beginnings. */
  readonly redDelivered: RedDelivered;
  /**
   * Whether a submission of the operation waits here, to begin or for its outcome at another site.
   */
  hasWaiter(id: OperationId): boolean;
  readonly outputs: SiteOutputs;
  /**
   * Whether a stamp that comes from `peer` itself may be taken. It may not while the clock of the
   * peer is too far ahead.
   */
  acceptsStamp(peer: Origin, stamp: number): boolean;
  reply(submission: Submission, stage: Stage, answer: ReplyOrError): void;
  /**
   * Own blue operations: the last one that is applied, and the last one that would survive the loss
   * of this site.
   */
  ownBlueProgress(): { readonly applied: number; readonly durable: number };
  /**
   * Writes to the site's own log. `onSynced` runs once the entry is synced, with its position in
   * that log.
   */
  store(entry: LocalEntry, onSynced: (position: number) => void): void;
}
