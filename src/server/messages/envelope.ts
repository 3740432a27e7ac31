/**
 * What sites send each other, and the envelope that it travels in. An envelope is addressed by site and partition, not by
 * machine, and says all that a receiver needs in order to know whether the message is meant for it, and whether its
 * sender still speaks for the partition: inside one process too, so that nothing can come to lean on being there.
 */
import type { LogMessage } from '../log/red-log.ts';
import type { Origin } from '../records/origin.ts';
import type { BlueMessage, RightsMessage, SlotMessage } from '../records/records.ts';

/** Says to whom a message came from below a term that its receiver had heard of: that of the partition's site. */
export interface TermMessage {
  readonly kind: 'term.superseded';
  readonly term: number;
}

/** What replicas of a partition, and their nodes of the red log, send each other. */
export type SiteMessage = BlueMessage | SlotMessage | RightsMessage | LogMessage;

/** Says to a site that its origin was closed, so that it must stop, and how much of its stream counts, if that is known. */
export interface ClosedMessage {
  readonly kind: 'member.closed';
  readonly final: number | null;
}

/** A replica: of one partition, at one site. */
export interface Address {
  readonly site: Origin;
  readonly partition: number;
}

/** A message on its way. */
export interface Envelope {
  /** Which deployment it is of: two may share machines, and never an operation. */
  readonly deployment: string;
  /** The rules of decision that its sender goes by (`RULES_VERSION`). */
  readonly rules: number;
  readonly from: Address;
  readonly to: Address;
  /** The epoch in which its sender speaks: larger than at any earlier start of the same address. */
  readonly term: number;
  /** What the sender's clock showed, in milliseconds since the epoch; none where it is the receiver's own clock. */
  readonly sentAtMs?: number;
  readonly message: SiteMessage | TermMessage | ClosedMessage;
}

/** Of a deployment with one partition. */
export const ONLY_PARTITION = 0;

/**
 * Version of what all sites decide alike: certification, the gate, what a record's reply is. Sites that go by different
 * ones would diverge, so they hear nothing of each other.
 */
export const RULES_VERSION = 1;

/** Why a message is not taken. */
export type MessageRejectionReason =
  /** It is no envelope, or larger than one may be. */
  | 'unreadable'
  /** It is written in a version that is not read here. */
  | 'version'
  /** Its content is not what its kind has. */
  | 'content'
  | 'deployment'
  | 'rules'
  /** It is for somebody else, or from nobody that is known here. */
  | 'address'
  /** It is from or about an origin that is not known here yet, or was closed. */
  | 'origin'
  /** A later start of the same sender has been heard of. */
  | 'term';

/** A message that is not taken: whoever sent it sends what matters of it again. */
export class RejectedMessageError extends Error {
  override readonly name = 'RejectedMessageError';
  readonly reason: MessageRejectionReason;
  /** Whom it says that it is from, as far as that was read. */
  readonly from: number | undefined;

  constructor(reason: MessageRejectionReason, description: string, from?: number) {
    super(description);
    this.reason = reason;
    this.from = from;
  }
}

/**
 * What is wrong with an envelope of others: another deployment, or sites that go by other rules. Their messages may have
 * other shapes too, so this is asked before their content is looked at.
 */
export function findForeignReason(
  { deployment, rules, from: { site } }: Pick<Envelope, 'deployment' | 'rules' | 'from'>,
  own: string,
): RejectedMessageError | undefined {
  if (deployment !== own) {
    return new RejectedMessageError('deployment', `it is of deployment '${deployment}', and this is '${own}'`, site);
  }
  if (rules === RULES_VERSION) return undefined;
  return new RejectedMessageError(
    'rules',
    `its sender goes by rules ${rules}, and this site by ${RULES_VERSION}`,
    site,
  );
}

/** Refusals by reason. */
export type MessageRejectionCounts = Readonly<Record<MessageRejectionReason, number>>;
