import type { DomainErrorInfo } from '../../correctable/errors.ts';
import type { ServerReply } from '../../server/log/red-log.ts';
import type { SiteObserver } from '../../server/site/core/site-core.ts';
import type { Submission } from '../../server/site/core/submissions.ts';
import type { Stage } from '../../server/site/answer.ts';
import type { Origins } from '../../server/service/records/origin.ts';
import type { Vector } from '../../server/service/records/vector.ts';
import type { Envelope } from '../../server/site/wire/envelope.ts';
import type { Site } from '../../server/site/site.ts';
import type { SiteEvent as ReportedEvent } from '../../server/site/ready.ts';
import type { SiteOptions } from '../../server/site/site-options.ts';
import type { RecoveredState } from '../../server/log/recovered-state.ts';
import type { ClientSubmission, SiteEvent } from './checkers/checker.ts';
import type { StorageSizes } from '../../server/node/storage/storage-sizes.ts';
import type { SimulatedDisk } from './disk/disk.ts';
import type { SentMessage } from './network.ts';
import type { RunParts } from './run-parts.ts';
import type { ServerConnection } from './etcd/simulated-etcd.ts';
import type { InstalledCopy } from './cluster/site-copies.ts';
import type { Timeline } from './timeline.ts';

/** The part of a submission that a client determines. */
export type SimulatedSubmission = Omit<Submission, 'serial' | 'submittedAtMs' | 'plan'>;

export type SiteReply =
  | {
      readonly kind: 'final' | 'preliminary';
      readonly serial: number;
      readonly stage: Stage;
      readonly value: unknown;
      readonly meta: Readonly<Record<string, unknown>> | undefined;
      readonly seen: Vector | undefined;
    }
  | {
      readonly kind: 'failed';
      readonly serial: number;
      /** The level that failed, if a stronger one follows. */
      readonly stage: Stage | undefined;
      readonly code: string;
      readonly domain: DomainErrorInfo | undefined;
    };

/** Creates the machine of a site. */
export type MachineFactory = (
  options: SiteOptions,
  stored: RecoveredState,
  nowMs: number,
  wallMs: number,
) => Site;

/** `Site` is the class of the site, which this file must not import. */
export interface SimulatedSiteOptions<Site> {
  readonly site: Omit<SiteOptions, 'origins' | 'epoch' | 'observer' | 'onMessageRejected'>;
  /** Creates the table of origins with which each start begins. */
  createOrigins(): Origins;
  /** Returns what changes if the red logs are restored at other sites. */
  getPlaces(): Partial<SiteOptions>;
  readonly makeMachine: MachineFactory;
  readonly timeline: Timeline;
  /** How far the site's clock is off, in milliseconds. */
  readonly skewMs: number;
  readonly observer: SiteObserver;
  readonly disk: SimulatedDisk;
  /** Small limits, so that files change and checkpoints are made within a run. */
  readonly storage: {
    readonly segmentBytes: number;
    readonly checkpointBytes: number;
    readonly largeGroup: number;
    readonly sizes: StorageSizes;
  };
  readonly parts: RunParts;
  send(sent: SentMessage): void;
  /** Called when this start of the site has accepted a message of another site. */
  onMessageAccepted(envelope: Envelope, start: number): void;
  onEvent(event: SiteEvent): void;
  /**
   * Called when the site has started: empty, or with the state for which the checkers noted
   * `saved`.
   */
  onStarted(saved: unknown): void;
  /**
   * Returns the notes of the checkers about the site. `onStarted` gets them when the site starts
   * from this state.
   */
  save(): unknown;
  onSubmitted(submission: Omit<ClientSubmission, 'site'>): void;
  /**
   * Called with the events of a site about itself and the members. A site that was closed or
   * forked has stopped.
   */
  onMembership(event: MembershipEvent, site: Site): void;
  /** Connects a start to the server that keeps the red log, if there is one. */
  readonly connect?: ((reply: (reply: ServerReply) => void) => ServerConnection) | undefined;
  /** The state of another site that it begins with, if it does. */
  readonly copy?: InstalledCopy | undefined;
}

/** What a site reports about itself and the members, apart from halts of its red logs. */
export type MembershipEvent = Exclude<ReportedEvent, { kind: 'halted' }>;
