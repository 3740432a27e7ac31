/**
 * The door of a replica to all others: what it sends leaves in envelopes, and what comes is let in or refused. A refused
 * message is counted and told of, and nothing behind the door hears of it.
 *
 * The *term* of a replica is the epoch in which it speaks, at first that of its start: whoever has heard of a later one
 * lets nothing of an earlier one in, however long that was on its way. A start that has lost the number of the one
 * before may come below it; then it is told so by those who have heard of that, and goes on above it.
 */
import { epochAbove, START_MAX } from '../records/epoch.ts';
import type { Origin, Origins } from '../records/origin.ts';
import { RefusedMessage, refusalOfOthers, RULES } from './envelope.ts';
import type { Address, Envelope, RefusalReason, RefusalCounts, SiteMessage } from './envelope.ts';

/** What a door needs. */
export interface MessageDoorOptions {
  readonly deployment: string;
  readonly origins: Origins;
  /** Whose door it is. */
  readonly self: Address;
  /** Of the start, in which it begins to speak. */
  readonly epoch: number;
  /** Told of each message that is not taken; but for those that came late, of which there are some after each restart. */
  readonly onRefused?: ((refusal: RefusedMessage) => void) | undefined;
}

/** The highest term that was heard of a sender. */
type HeardTerm = readonly [site: Origin, term: number];

const NOTHING_HEARD: readonly HeardTerm[] = [];

/** Envelopes out and in. */
export class MessageDoor {
  readonly #options: MessageDoorOptions;
  #term: number;
  /** By sender: the highest term heard of. */
  readonly #terms = new Map<Origin, number>();
  /** What was heard since the last time. */
  #heard: HeardTerm[] = [];
  readonly #addresses = new Map<Origin, Address>();
  #answers: Envelope[] = [];
  readonly #refusals: Record<RefusalReason, number> = {
    unreadable: 0,
    version: 0,
    content: 0,
    deployment: 0,
    rules: 0,
    address: 0,
    term: 0,
  };

  constructor(options: MessageDoorOptions) {
    this.#options = options;
    this.#term = options.epoch;
    const { origins, self } = options;
    for (const site of origins.others(self.site)) this.#addresses.set(site, { site, partition: self.partition });
  }

  /** The term that envelopes leave with. */
  get term(): number {
    return this.#term;
  }

  /** Messages that were not taken. */
  get refusals(): RefusalCounts {
    return { ...this.#refusals };
  }

  /** Those of them that came late, after a later term of their sender. */
  get late(): number {
    return this.#refusals.term;
  }

  /** Puts a message to the same partition at another site into an envelope. */
  seal(to: Origin, message: Envelope['message']): Envelope {
    const address = this.#addresses.get(to);
    if (address === undefined) throw new Error(`nothing can be sent to ordinal ${to}`);
    const { deployment, self } = this.#options;
    return { deployment, rules: RULES, from: self, to: address, term: this.#term, message };
  }

  /** The message, if it is for this replica and may be taken; `takeAnswers` has what the door itself says to it. */
  open(envelope: Envelope): SiteMessage | undefined {
    const refusal = this.#refusalOf(envelope);
    if (refusal !== undefined) {
      this.refuse(refusal);
      return undefined;
    }
    const { message } = envelope;
    if (message.kind !== 'term.passed') return message;
    if (message.term > this.#term) this.#goAbove(message.term, envelope.from);
    return undefined;
  }

  /** What was sent meanwhile is lost, as it can be on any network: what matters of it is sent again. */
  #goAbove(passed: number, from: Address): void {
    const term = epochAbove(passed, this.#term);
    // Nobody would take anything of it.
    if (term > START_MAX) this.refuse(refusedFor('content', `nothing may be said above the term ${passed}`, from));
    else this.#term = term;
  }

  /** Terms that were heard at earlier starts of this replica: they count as before. */
  recall(terms: ReadonlyMap<Origin, number>): void {
    for (const [site, term] of terms) this.#terms.set(site, Math.max(term, this.#terms.get(site) ?? 0));
  }

  /** The terms that have become the highest of their senders since the last call: to be written down. */
  takeHeard(): readonly HeardTerm[] {
    if (this.#heard.length === 0) return NOTHING_HEARD;
    const heard = this.#heard;
    this.#heard = [];
    return heard;
  }

  /** Counts a message that is not taken, and tells of it: of one too that could not even be read. */
  refuse(refusal: RefusedMessage): void {
    this.#refusals[refusal.reason] += 1;
    if (refusal.reason !== 'term') this.#options.onRefused?.(refusal);
  }

  /** What is to be sent because of messages that were not taken. */
  takeAnswers(): readonly Envelope[] {
    const answers = this.#answers;
    if (answers.length > 0) this.#answers = [];
    return answers;
  }

  /** Whether a message of this term may be taken, from a sender of whom `known` was heard. */
  protected isCurrent(term: number, known: number): boolean {
    return term >= known;
  }

  #refusalOf(envelope: Envelope): RefusedMessage | undefined {
    const { deployment: own, self } = this.#options;
    const { from, to, term } = envelope;
    const refusal = refusalOfOthers(envelope, own);
    if (refusal !== undefined) return refusal;
    if (to.site !== self.site || to.partition !== self.partition) {
      return refusedFor('address', `it is for partition ${to.partition} at ordinal ${to.site}`, from);
    }
    if (from.partition !== self.partition || !this.#addresses.has(from.site)) {
      return refusedFor('address', `it is from partition ${from.partition} at ordinal ${from.site}`, from);
    }
    const known = this.#terms.get(from.site) ?? 0;
    if (!this.isCurrent(term, known)) {
      this.#answers.push(this.seal(from.site, { kind: 'term.passed', term: known }));
      return refusedFor('term', `it is of term ${term}, and ${known} has been heard of`, from);
    }
    if (term > known) {
      this.#terms.set(from.site, term);
      this.#heard.push([from.site, term]);
    }
    return undefined;
  }
}

function refusedFor(reason: RefusalReason, what: string, { site }: Address): RefusedMessage {
  return new RefusedMessage(reason, what, site);
}
