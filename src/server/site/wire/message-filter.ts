/**
 * The filter between a site and all others. Messages that the site sends get an envelope
 * here. Received messages are passed on or refused. A refused message is counted and reported, and
 * has no other effect.
 *
 * Each message names the *epoch* of its sender, initially that of its start: the field `term` of an
 * envelope. A site that knows a later epoch of a sender refuses messages with an earlier one, so
 * that delayed messages of an earlier start have no effect. A start that has lost the number of the
 * start before may get a lower epoch. Then sites that know the later one report it, and the
 * start continues with a higher one.
 */
import { isLogMessage } from '../../log/red-log.ts';
import { createEpochAbove, MAX_START } from '../../log/epoch.ts';
import type { Origin, Origins } from '../../service/records/origin.ts';
import { RULES_VERSION } from '../../service/records/deployment-version.ts';
import {
  NewerRulesError,
  RejectedMessageError,
  findForeignReason,
  isNodeMessage,
  MAIN_PARTITION,
} from './envelope.ts';
import type { Address, ClosedMessage, Envelope, MessageRejectionReason } from './envelope.ts';
import type { MessageRejectionCounts, NodeMessage, SiteMessage } from './envelope.ts';

export interface MessageFilterOptions {
  readonly deployment: string;
  readonly origins: Origins;
  /** With the partition `main`. */
  readonly ownSite: Address;
  /** The number of partitions, each with a red log. Default: 1 */
  readonly partitionCount?: number | undefined;
  /** The epoch of the start, in which it begins to send. */
  readonly epoch: number;
  /** The newest rules that are known here. Default: those of this program */
  readonly newestRules?: number | undefined;
  /** Returns the active rules. Default: those of this program */
  readonly getRules?: (() => number | undefined) | undefined;
  /**
   * Called with each refused message, except for those of an earlier start, which every restart
   * causes.
   */
  readonly onRejected?: ((rejection: RejectedMessageError) => void) | undefined;
  /**
   * Called with a start of another site that was not accepted yet, so that its messages are
   * refused.
   */
  readonly onUnknownStart?: ((site: Origin, epoch: number) => void) | undefined;
  /**
   * Called if a later start of this site is known. If there is a handler, this start does not
   * continue with a higher epoch.
   */
  readonly onSuperseded?: ((epoch: number, by: Origin) => void) | undefined;
  /** Called if rules are active that are not known here. */
  readonly onNewerRules?: ((problem: string) => void) | undefined;
}

export class MessageFilter {
  readonly #options: MessageFilterOptions;
  #epoch: number;
  /** The highest known epoch of each sender. */
  readonly #epochs = new Map<Origin, number>();
  #responses: Envelope[] = [];
  readonly #rejections: Record<MessageRejectionReason, number> = {
    unreadable: 0,
    version: 0,
    content: 0,
    deployment: 0,
    rules: 0,
    address: 0,
    origin: 0,
    term: 0,
    start: 0,
  };

  constructor(options: MessageFilterOptions) {
    this.#options = options;
    this.#epoch = options.epoch;
  }

  /** The epoch of envelopes that are sent. */
  get epoch(): number {
    return this.#epoch;
  }

  get rejections(): MessageRejectionCounts {
    return { ...this.#rejections };
  }

  /** Returns the highest epoch of a site that was accepted, or 0 if there is none. */
  getAccepted(site: Origin): number {
    return this.#epochs.get(site) ?? 0;
  }

  /** Accepts the start of a site with this epoch. Returns whether it is a new one. */
  accept(site: Origin, epoch: number): boolean {
    if (epoch <= this.getAccepted(site)) return false;
    this.#epochs.set(site, epoch);
    return true;
  }

  /**
   * Puts a message to the same partition at another site into an envelope. Only messages of red
   * logs have a partition other than `main`.
   */
  seal(to: Origin, message: Envelope['message'], partition: number = MAIN_PARTITION): Envelope {
    const { deployment, ownSite, origins, getRules } = this.#options;
    if (to === ownSite.site || !origins.isSite(to))
      throw new Error(`nothing can be sent to ordinal ${to}`);
    const from = partition === ownSite.partition ? ownSite : { ...ownSite, partition };
    const address = { site: to, partition };
    const rules = getRules?.() ?? RULES_VERSION;
    return {
      deployment,
      rules,
      from,
      to: address,
      term: this.#epoch,
      message,
    };
  }

  /**
   * Returns the message if it is for this site and may be accepted. `takeResponses` then returns
   * the replies of the filter itself.
   */
  open(envelope: Envelope): SiteMessage | ClosedMessage | NodeMessage | undefined {
    const rejection = this.#findRejection(envelope);
    if (rejection !== undefined) {
      this.reject(rejection);
      return undefined;
    }
    const { message } = envelope;
    if (message.kind !== 'term.superseded') return message;
    if (message.term <= this.#epoch) return undefined;
    const { onSuperseded } = this.#options;
    if (onSuperseded === undefined) this.#raiseEpoch(message.term, envelope.from);
    else onSuperseded(message.term, envelope.from.site);
    return undefined;
  }

  /**
   * Continues with a higher epoch. Receivers refuse messages that were sent with the lower one.
   * They are resent if necessary.
   */
  #raiseEpoch(passed: number, from: Address): void {
    const epoch = createEpochAbove(passed, this.#epoch);
    // Stop here, because no site accepts a higher epoch.
    if (epoch > MAX_START)
      this.reject(createRejection('content', `no message may have an epoch above ${passed}`, from));
    else this.#epoch = epoch;
  }

  /** Restores the epochs that earlier starts of this site knew. */
  recall(epochs: ReadonlyMap<Origin, number>): void {
    for (const [site, epoch] of epochs)
      this.#epochs.set(site, Math.max(epoch, this.#epochs.get(site) ?? 0));
  }

  /** Counts and reports a refused message, even if it could not be read. */
  reject(rejection: RejectedMessageError): void {
    this.#rejections[rejection.reason] += 1;
    const { reason } = rejection;
    if (reason !== 'term' && reason !== 'start' && reason !== 'origin')
      this.#options.onRejected?.(rejection);
    if (rejection instanceof NewerRulesError) this.#options.onNewerRules?.(rejection.message);
  }

  /** Returns and removes the replies to refused messages. */
  takeResponses(): readonly Envelope[] {
    const answers = this.#responses;
    if (answers.length > 0) this.#responses = [];
    return answers;
  }

  /**
   * Creates messages to sites that are being retired. Nothing else is sent to such a site, so it
   * would not learn of its retirement otherwise.
   */
  createRetirementNotices(): Envelope[] {
    const { origins, ownSite } = this.#options;
    const isRetiring = (origin: Origin): boolean => {
      const { site, state } = origins.get(origin);
      // Do not notify a rebuilt site: it has another origin, and its old directory no longer
      // exists.
      return state === 'closing' && origin !== ownSite.site && origins.find(site) === undefined;
    };
    return origins.closed.filter(isRetiring).map((origin) => this.#createClosedMessage(origin));
  }

  /**
   * Returns whether a message of this epoch may be accepted. `known` is the highest one of its
   * sender.
   */
  isCurrent(epoch: number, known: number): boolean {
    return epoch >= known;
  }

  #createClosedMessage(to: Origin): Envelope {
    const { final } = this.#options.origins.get(to);
    return this.seal(to, {
      kind: 'member.closed',
      final: final?.sequence ?? null,
    });
  }

  /** Whether there is the partition, and the message is for its red log. */
  #isPartitionOf({ to: { partition }, message }: Envelope): boolean {
    if (partition === this.#options.ownSite.partition) return true;
    const { partitionCount = 1 } = this.#options;
    return partition < partitionCount && isLogMessage(message);
  }

  #findRejection(envelope: Envelope): RejectedMessageError | undefined {
    const { deployment: own, ownSite, origins, newestRules } = this.#options;
    const { from, to, term } = envelope;
    const rejection = findForeignReason(envelope, own, newestRules);
    if (rejection !== undefined) return rejection;
    const isKnownPartition = this.#isPartitionOf(envelope);
    if (to.site !== ownSite.site || !isKnownPartition) {
      // The names may differ: a sender may not know yet that this site was rebuilt, or may know it
      // before the old node does.
      const isOwnName =
        to.site >= origins.size || origins.getName(to.site) === origins.getName(ownSite.site);
      const reason = isOwnName && isKnownPartition ? 'origin' : 'address';
      return createRejection(
        reason,
        `it is for partition ${to.partition} at ordinal ${to.site}`,
        from,
      );
    }
    if (from.partition !== to.partition || from.site === ownSite.site || !(from.site >= 1)) {
      return createRejection(
        'address',
        `it is from partition ${from.partition} at ordinal ${from.site}`,
        from,
      );
    }
    if (!origins.isMember(from.site)) {
      const ordinal: number = from.site;
      if (origins.isSite(ordinal)) this.#responses.push(this.#createClosedMessage(ordinal));
      return createRejection('origin', `it is from ordinal ${ordinal}, which is no member`, from);
    }
    const known = this.#epochs.get(from.site) ?? 0;
    if (isLastWord(envelope)) return undefined;
    if (!this.isCurrent(term, known)) {
      this.#responses.push(this.seal(from.site, { kind: 'term.superseded', term: known }));
      return createRejection(
        'term',
        `it is of epoch ${term}, and ${known} has been heard of`,
        from,
      );
    }
    const { kind } = envelope.message;
    if (term <= known || isNodeMessage(envelope.message)) return undefined;
    // Accept messages about this site itself, whatever the state of their sender.
    if (kind === 'term.superseded' || kind === 'member.closed') return undefined;
    this.#options.onUnknownStart?.(from.site, term);
    return createRejection('start', `the start of epoch ${term} is not accepted`, from);
  }
}

/**
 * Returns whether the message is the report of a start that it stops because another one continues.
 * Such a report is accepted even if its epoch is old.
 */
function isLastWord({ term, message }: Envelope): boolean {
  return message.kind === 'node.twin' && message.term === term;
}

function createRejection(
  reason: MessageRejectionReason,
  description: string,
  { site }: Address,
): RejectedMessageError {
  return new RejectedMessageError(reason, description, site);
}
