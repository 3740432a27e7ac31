/**
 * What sites send each other, and the envelope that it travels in. An envelope
 * is addressed by site and partition, not by machine, and says all that a
 * receiver needs in order to know whether the message is meant for it, and
 * whether its sender still speaks for the partition: inside one process too, so
 * that nothing can come to lean on being there.
 */
import type { LogMessage } from '../log/red-log.ts';
import {
  OLDEST_RULES_VERSION,
  RULES_VERSION,
} from '../records/deployment-version.ts';
import type { Origin } from '../records/origin.ts';
import type {
  BlueMessage,
  RightsMessage,
  SlotMessage,
  StreamPoint,
} from '../records/records.ts';

/**
 * Says to whom a message came from below a term that its receiver had heard of:
 * that of the partition's site.
 */
export interface TermMessage {
  readonly kind: 'term.superseded';
  readonly term: number;
}

/**
 * How a start of a site says which node it is of, and what is here of the
 * streams: nothing else is taken of it before.
 */
export interface HelloMessage {
  readonly kind: 'node.hello';
  /** Names its data directory; empty where it has no name. */
  readonly directory: string;
  /** Of the red log that it goes by. */
  readonly generation: number;
  /**
   * The highest term of the receiver that was accepted; 0 where there is none.
   */
  readonly accepted: number;
  /**
   * Its own stream, and its copy of the red log where one site gives the order.
   */
  readonly own: StreamPoint;
  readonly red?: StreamPoint | undefined;
  /** What it has of the receiver's stream. */
  readonly known: StreamPoint;
  /**
   * Its own stream and its red log at the places that the receiver has said to
   * have.
   */
  readonly ownBefore?: StreamPoint | undefined;
  readonly redBefore?: StreamPoint | undefined;
  /** Whether it asks for the same in return. */
  readonly isRequest: boolean;
  /**
   * The start of the receiver of which it has had a hello. A node that others
   * do not reach at the address of its site has had none.
   */
  readonly heard?: number | undefined;
}

/**
 * Says to the start of a site with this term, which is not accepted yet, what
 * is here of its stream and of the red log. The start itself finds out by that
 * whether its directory is an older one. It is sent back to a node that is not
 * at the address of its site, too.
 */
export interface KnownMessage {
  readonly kind: 'node.known';
  readonly term: number;
  readonly known: StreamPoint;
  readonly red?: StreamPoint | undefined;
}

/**
 * Says that two nodes run as the site that sends it, and that the start with
 * this term is the one that does not go on. That start says it too, before it
 * stops.
 */
export interface TwinMessage {
  readonly kind: 'node.twin';
  readonly term: number;
  readonly reason: string;
}

/**
 * Says to the start of a site with this term that nothing is taken of it:
 * another node of its site has gone on.
 */
export interface ForkMessage {
  readonly kind: 'node.fork';
  readonly term: number;
  readonly reason: string;
}

/**
 * What sites say of who they are: taken of starts too that were not accepted
 * yet.
 */
export type NodeMessage =
  | HelloMessage
  | ForkMessage
  | KnownMessage
  | TwinMessage;

/**
 * By these messages a node learns that it must not go on. They are sent back on
 * each connection that was dialed as its site, too: the node that they are
 * meant for may not be at its address.
 */
export const SENT_BACK: readonly string[] = [
  'node.fork',
  'node.known',
  'term.superseded',
  'member.closed',
];

/** Whether a message is about the node that sends it. */
export function isNodeMessage(message: {
  readonly kind: string;
}): message is NodeMessage {
  return message.kind.startsWith('node.');
}

/**
 * What replicas of a partition, and their nodes of the red log, send each
 * other.
 */
export type SiteMessage =
  | BlueMessage
  | SlotMessage
  | RightsMessage
  | LogMessage;

/**
 * Says to a site that its origin was closed, so that it must stop, and how much
 * of its stream counts, if that is known.
 */
export interface ClosedMessage {
  readonly kind: 'member.closed';
  readonly final: number | null;
}

/** A replica: of one partition, at one site. */
export interface Address {
  readonly site: Origin;
  readonly partition: number;
}

export interface Envelope {
  /**
   * Which deployment it is of: two may share machines, and never an operation.
   */
  readonly deployment: string;
  /** The rules of decision that are in force at its sender. */
  readonly rules: number;
  readonly from: Address;
  readonly to: Address;
  /**
   * The epoch in which its sender speaks: larger than at any earlier start of
   * the same address.
   */
  readonly term: number;
  /**
   * What the sender's clock showed, in milliseconds since the epoch; none where
   * it is the receiver's own clock.
   */
  readonly sentAtMs?: number;
  readonly message: SiteMessage | TermMessage | ClosedMessage | NodeMessage;
}

export const ONLY_PARTITION = 0;

export type MessageRejectionReason =
  /** It is no envelope, or larger than one may be. */
  | 'unreadable'
  /** It is written in a version that is not read here. */
  | 'version'
  /** Its content is not what its kind has. */
  | 'content'
  | 'deployment'
  | 'rules'
  /** It is for another site, or from one that is not known here. */
  | 'address'
  /**
   * It is from, for or about an origin that is not known here yet, or was
   * closed.
   */
  | 'origin'
  /** A later start of the same sender has been heard of. */
  | 'term'
  /**
   * The start of its sender was not accepted, or not yet: it has sent no
   * `node.hello`, or another node has gone on.
   */
  | 'start';

/** A message that is not taken: its sender sends again what matters of it. */
export class RejectedMessageError extends Error {
  override readonly name = 'RejectedMessageError';
  readonly reason: MessageRejectionReason;
  /** Whom it says that it is from, as far as that was read. */
  readonly from: number | undefined;

  constructor(
    reason: MessageRejectionReason,
    description: string,
    from?: number,
  ) {
    super(description);
    this.reason = reason;
    this.from = from;
  }
}

/** Rules are in force at its sender that this program does not know. */
export class NewerRulesError extends RejectedMessageError {}

/**
 * What is wrong with an envelope of others: another deployment, or sites that
 * go by rules which are not known here. Their messages may have other shapes
 * too, so this is asked before their content is looked at.
 *
 * @param newest the newest rules that are known
 */
export function findForeignReason(
  {
    deployment,
    rules,
    from: { site },
  }: Pick<Envelope, 'deployment' | 'rules' | 'from'>,
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
  return new (rules > newest ? NewerRulesError : RejectedMessageError)(
    'rules',
    description,
    site,
  );
}

export type MessageRejectionCounts = Readonly<
  Record<MessageRejectionReason, number>
>;
