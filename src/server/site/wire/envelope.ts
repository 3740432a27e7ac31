/**
 * Messages between sites, and the envelope of a message. An envelope is addressed by site and
 * partition, not by machine. It contains all that a receiver needs to know whether the message is
 * meant for it, and whether its sender still acts for the partition. Sites in one process use
 * envelopes too, so that no code can depend on being in the same process.
 */
import type { LogMessage } from '../../log/red-log.ts';
import { OLDEST_RULES_VERSION, RULES_VERSION } from '../../service/records/deployment-version.ts';
import type { Origin } from '../../service/records/origin.ts';
import type {
  BlueMessage,
  RightsMessage,
  RowsMessage,
  SlotMessage,
  StreamPoint,
} from '../../service/records/records.ts';

/**
 * The reply to a message whose term is lower than one that the receiver knows. It contains the
 * known term.
 */
export interface TermMessage {
  readonly kind: 'term.superseded';
  readonly term: number;
}

/** A point in the red log of a partition beside `main`, by its ordinal. */
export type LogPoint = readonly [partition: number, point: StreamPoint];

/**
 * The first message of a node after a start. It names the node, and the ends of the streams that it
 * has. Other messages of this start are accepted only after this one was accepted.
 */
export interface HelloMessage {
  readonly kind: 'node.hello';
  /** The name of its data directory, empty if that has none. */
  readonly directory: string;
  /** The generation of its red log. */
  readonly generation: number;
  /** The highest term of the receiver that was accepted, or 0 if there is none. */
  readonly accepted: number;
  /**
   * The end of its own stream. The next field is the end of its copy of the red log, if a site
   * leads the log.
   */
  readonly own: StreamPoint;
  readonly red?: StreamPoint | undefined;
  /** The same for the red logs of other partitions, if there are any. */
  readonly logs?: readonly LogPoint[] | undefined;
  /** The end of its copy of the receiver's stream. */
  readonly known: StreamPoint;
  /**
   * Digests of its own stream and of its red log, at the lengths that the receiver has reported.
   */
  readonly ownBefore?: StreamPoint | undefined;
  readonly redBefore?: StreamPoint | undefined;
  readonly logsBefore?: readonly LogPoint[] | undefined;
  /** Whether the receiver has to send its own hello. */
  readonly isRequest: boolean;
  /**
   * The start of the receiver whose hello has arrived. Absent if no hello has arrived: then the
   * receiver may not be at the address of its site.
   */
  readonly heard?: number | undefined;
}

/**
 * Reports the ends of its stream and of the red log to a start that is not accepted yet. By this,
 * the start itself finds out whether its directory is outdated. This is also sent back to a node
 * that is not at the address of its site.
 */
export interface KnownMessage {
  readonly kind: 'node.known';
  readonly term: number;
  readonly known: StreamPoint;
  readonly red?: StreamPoint | undefined;
  readonly logs?: readonly LogPoint[] | undefined;
}

/**
 * Reports that two nodes run as the sending site, and that the node with this term stops. That node
 * also sends this message itself, before it stops.
 */
export interface TwinMessage {
  readonly kind: 'node.twin';
  readonly term: number;
  readonly reason: string;
}

/** Reports to a node that its messages are refused, because another node of its site continues. */
export interface ForkMessage {
  readonly kind: 'node.fork';
  readonly term: number;
  readonly reason: string;
}

/**
 * Messages about the identity of sites. They are accepted even from starts that were not accepted
 * yet.
 */
export type NodeMessage = HelloMessage | ForkMessage | KnownMessage | TwinMessage;

/**
 * Messages from which a node learns that it must stop. They are also sent back on each connection
 * that was dialed as its site, because the node that must stop may not be at the address of its
 * site.
 */
export const SENT_BACK: readonly string[] = [
  'node.fork',
  'node.known',
  'term.superseded',
  'member.closed',
];

/** Whether a message is about the node that sends it. */
export function isNodeMessage(message: { readonly kind: string }): message is NodeMessage {
  return message.kind.startsWith('node.');
}

/** Messages that sites, and their nodes of the red logs, send each other. */
export type SiteMessage = BlueMessage | SlotMessage | RightsMessage | RowsMessage | LogMessage;

/**
 * Reports to a site that its origin was closed, so that it must stop, and how much of its stream is
 * valid, if that is known.
 */
export interface ClosedMessage {
  readonly kind: 'member.closed';
  readonly final: number | null;
}

/** The address of a message: a site and a partition. */
export interface Address {
  readonly site: Origin;
  readonly partition: number;
}

export interface Envelope extends EnvelopeHead {
  readonly to: Address;
  /** The epoch of the sender. It is larger than at any earlier start of the same address. */
  readonly term: number;
  /**
   * The time of the sender's clock in milliseconds since the epoch. It is `undefined` if the
   * receiver has the same clock.
   */
  readonly sentAtMs?: number;
  readonly message: SiteMessage | TermMessage | ClosedMessage | NodeMessage;
}

/** The part of an envelope that shows whether its receiver can read it. */
interface EnvelopeHead {
  /** Identifies the deployment. Two deployments may share machines, but never an operation. */
  readonly deployment: string;
  /** The rules that are active at its sender. */
  readonly rules: number;
  readonly from: Address;
}

export const MAIN_PARTITION = 0;

export type MessageRejectionReason =
  /** It is no envelope, or larger than the maximum. */
  | 'unreadable'
  /** It has a version that this program cannot read. */
  | 'version'
  /** Its content does not match its kind. */
  | 'content'
  | 'deployment'
  | 'rules'
  /** It is addressed to another site, or its sender is unknown here. */
  | 'address'
  /** Its sender, its receiver, or an origin that it names is not known here yet, or was closed. */
  | 'origin'
  /** A later start of the same sender is known. */
  | 'term'
  /**
   * The start of its sender is not accepted: it has sent no `node.hello`, or another node of its
   * site continues.
   */
  | 'start';

/** Reports a message that is refused. Its sender resends it if necessary. */
export class RejectedMessageError extends Error {
  override readonly name = 'RejectedMessageError';
  readonly reason: MessageRejectionReason;
  /** The site that the message names as its sender, if that was read. */
  readonly from: number | undefined;

  constructor(reason: MessageRejectionReason, description: string, from?: number) {
    super(description);
    this.reason = reason;
    this.from = from;
  }
}

/** Reports that rules are active at the sender that this program does not know. */
export class NewerRulesError extends RejectedMessageError {}

/**
 * Returns why an envelope cannot be read here: it has another deployment, or unknown rules. Such
 * messages may have other shapes too, so this is checked before their content.
 *
 * @param newest the newest rules that are known
 */
export function findForeignReason(
  { deployment, rules, from: { site } }: EnvelopeHead,
  own: string,
  newest: number = RULES_VERSION,
): RejectedMessageError | undefined {
  if (deployment !== own) {
    return new RejectedMessageError(
      'deployment',
      `it is of deployment '${deployment}', and this is '${own}'`,
      site,
    );
  }
  if (rules >= OLDEST_RULES_VERSION && rules <= newest) return undefined;
  const description = `its sender goes by rules ${rules}, and this program knows ${OLDEST_RULES_VERSION} to ${newest}`;
  return new (rules > newest ? NewerRulesError : RejectedMessageError)('rules', description, site);
}

export type MessageRejectionCounts = Readonly<Record<MessageRejectionReason, number>>;
