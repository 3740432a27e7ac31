import type { DomainErrorInfo } from '../../correctable/errors.ts';
import type { ServerReply } from '../../server/log/red-log.ts';
import type { ReplicaObserver } from '../../server/replica/core/replica-port.ts';
import type { Stage } from '../../server/records/submissions.ts';
import type { Origins } from '../../server/records/origin.ts';
import type { Vector } from '../../server/records/vector.ts';
import type { Envelope } from '../../server/messages/envelope.ts';
import type { SiteMachine } from '../../server/site/site-machine.ts';
import type {
  SiteOptions,
  SiteOutput,
} from '../../server/site/site-options.ts';
import type { RecoveredState } from '../../server/log/recovered-state.ts';
import type {
  DurableStorage,
  DurableStorageOptions,
} from '../../server/storage/durable-storage.ts';
import type { ClientSubmission } from './checkers/checker.ts';
import type { SimulatedDisk } from './disk.ts';
import type { SentMessage } from './network.ts';
import type { ServerConnection } from './simulated-etcd.ts';
import type { InstalledCopy } from './site-copies.ts';
import type { Timeline } from './timeline.ts';

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
      /** The one that failed, where a stronger one follows. */
      readonly stage: Stage | undefined;
      readonly code: string;
      readonly domain: DomainErrorInfo | undefined;
    };

/**
 * Makes the machine of a site: a run with a planted fault makes another one.
 */
export type MachineFactory = (
  options: SiteOptions,
  stored: RecoveredState,
  nowMs: number,
  wallMs: number,
) => SiteMachine;

/** `Site` is the class of the site, which this file must not import. */
export interface SimulatedSiteOptions<Site> {
  readonly site: Omit<
    SiteOptions,
    'origins' | 'epoch' | 'observer' | 'onMessageRejected'
  >;
  /** The table that each start begins with. */
  createOrigins(): Origins;
  readonly makeMachine: MachineFactory;
  readonly timeline: Timeline;
  /** How far the site's clock is off, in milliseconds. */
  readonly skewMs: number;
  readonly observer: ReplicaObserver;
  readonly disk: SimulatedDisk;
  /**
   * Small ones, so that files are changed and checkpoints made within a run.
   */
  readonly storage: Required<
    Pick<
      DurableStorageOptions,
      'segmentBytes' | 'checkpointBytes' | 'largeGroup'
    >
  >;
  readonly Storage: typeof DurableStorage;
  send(sent: SentMessage): void;
  /** A message of another site was taken, by this start of the site. */
  onMessageAccepted(envelope: Envelope, start: number): void;
  /** It goes on after a pause. */
  onResumed(): void;
  /**
   * A site has started: empty, or again with the state that the checkers noted
   * as `saved`.
   */
  onStarted(saved: unknown): void;
  /**
   * What checkers have noted of the site, to be given to `started` when it
   * starts from this state.
   */
  save(): unknown;
  onSubmitted(submission: Omit<ClientSubmission, 'site'>): void;
  /**
   * What a site says of itself and of the members, by `SiteOutput`; a site that
   * was closed, or forked, has stopped.
   */
  onMembership(output: MembershipOutput, site: Site): void;
  /** Connects a start to the server that keeps the red log, where one does. */
  readonly connect?:
    | ((reply: (reply: ServerReply) => void) => ServerConnection)
    | undefined;
  /** The state of another site that it begins with, if it does. */
  readonly copy?: InstalledCopy | undefined;
}

type OwnOutput = {
  readonly kind: 'send' | 'store' | 'request' | 'view' | 'halted' | 'failed';
};
export type MembershipOutput = Exclude<SiteOutput, OwnOutput>;
