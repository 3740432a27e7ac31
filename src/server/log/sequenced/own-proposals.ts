/**
 * What a site proposes to the leader of a red log, and what has not arrived there. What is lost is
 * sent again, and nothing else is: the site checks which proposals have arrived, behind all that it
 * has sent before.
 */
import { Fifo } from '../../service/collections/fifo.ts';
import { createEpochAbove } from '../epoch.ts';
import type { Origin } from '../../service/records/origin.ts';
import type { LogEntry, RedLogOptions } from '../red-log.ts';
import type { SequencedMessage } from './sequenced-messages.ts';

interface Proposal<R> {
  readonly sequence: number;
  readonly record: R;
}

/** The question which of the proposals up to the one with the number `last` the leader has. */
interface ProposalCheck {
  readonly probe: number;
  readonly last: number;
}

export interface OwnProposalsOptions {
  readonly site: Origin;
  /** The epoch of this start. */
  readonly epoch: number;
  readonly resendAfterMs: number;
  /** Proposals that may be on their way to the leader at a time. */
  readonly maxProposed: number;
}

export class OwnProposals<R> {
  readonly #options: OwnProposalsOptions;
  readonly #sendToLeader: (message: SequencedMessage<R>) => void;
  /** Proposals that are not yet in the log as this node sees it. */
  readonly #proposals = new Fifo<Proposal<R>>();
  /** Records beyond the window: they have no number yet, and may be taken back. */
  readonly #unsent = new Set<R>();
  #nextSequence = 1;
  /** Larger than at any earlier start of this site that the log knows of. */
  #epoch: number;
  #hasMoved = true;
  #proposedAtMs = 0;
  /** The check that was sent and is not answered. */
  #check: ProposalCheck | undefined;
  #lastProbe = 0;

  /** @param knownEpoch the highest one of this site that the log shows */
  constructor(
    options: OwnProposalsOptions,
    knownEpoch: number,
    sendToLeader: (message: SequencedMessage<R>) => void,
  ) {
    this.#options = options;
    this.#sendToLeader = sendToLeader;
    this.#epoch =
      knownEpoch < options.epoch ? options.epoch : createEpochAbove(knownEpoch, options.epoch);
  }

  get epoch(): number {
    return this.#epoch;
  }

  get isEmpty(): boolean {
    return this.#proposals.isEmpty && this.#unsent.size === 0;
  }

  /** Returns the entry of a record that the leader itself proposes. */
  createEntry(record: R): LogEntry<R> {
    const sequence = this.#nextSequence++;
    return {
      origin: this.#options.site,
      epoch: this.#epoch,
      sequence,
      record,
    };
  }

  add(record: R, nowMs: number): void {
    if (this.#proposals.isEmpty) this.#proposedAtMs = nowMs;
    if (this.#unsent.size > 0 || this.#isWindowFull) this.#unsent.add(record);
    else this.#sendFirst(record);
  }

  /** Takes a record back. Returns whether it was not sent. */
  withdraw(record: R): boolean {
    return this.#unsent.delete(record);
  }

  /** Checks what has arrived, if nothing has come of it for long. */
  tick(nowMs: number): void {
    if (this.#hasMoved) this.#proposedAtMs = nowMs;
    this.#hasMoved = false;
    if (this.#proposals.isEmpty || nowMs - this.#proposedAtMs < this.#options.resendAfterMs) return;
    this.#proposedAtMs = nowMs;
    this.#check ??= { probe: ++this.#lastProbe, last: this.#nextSequence - 1 };
    this.#sendToLeader({
      kind: 'log.check',
      epoch: this.#epoch,
      ...this.#check,
    });
  }

  /** Sends again what the leader lacks of what was sent before the check. */
  onChecked({ epoch, next, probe }: SequencedMessage<R> & { kind: 'log.checked' }): void {
    const check = this.#check;
    if (check?.probe !== probe || epoch !== this.#epoch) return;
    this.#check = undefined;
    for (const proposal of this.#proposals.slice())
      if (proposal.sequence >= next && proposal.sequence <= check.last) this.#send(proposal);
  }

  /** An entry of the leader's log has come: it is synced there. */
  onLogged({ origin, epoch, sequence }: LogEntry<R>): void {
    if (origin !== this.#options.site || epoch < this.#epoch) return;
    if (epoch > this.#epoch) return this.#beginAbove(epoch);
    while ((this.#proposals.first?.sequence ?? Infinity) <= sequence) this.#proposals.shift();
    this.#hasMoved = true;
    this.#sendLater();
  }

  get #isWindowFull(): boolean {
    return this.#proposals.size >= this.#options.maxProposed;
  }

  #sendFirst(record: R): void {
    const proposal = { sequence: this.#nextSequence++, record };
    this.#proposals.push(proposal);
    this.#send(proposal);
  }

  #send({ sequence, record }: Proposal<R>): void {
    this.#sendToLeader({
      kind: 'log.propose',
      epoch: this.#epoch,
      sequence,
      record,
    });
  }

  /** Some proposals have arrived: sends those that waited. */
  #sendLater(): void {
    for (const record of this.#unsent) {
      if (this.#isWindowFull) return;
      this.#unsent.delete(record);
      this.#sendFirst(record);
    }
  }

  /**
   * An earlier start had that epoch, and its file is gone. Records that have not arrived are
   * proposed again above it.
   */
  #beginAbove(epoch: number): void {
    this.#epoch = createEpochAbove(epoch, this.#options.epoch);
    this.#nextSequence = 1;
    this.#check = undefined;
    const records = this.#proposals.slice().map(({ record }) => record);
    while (!this.#proposals.isEmpty) this.#proposals.shift();
    for (const record of records) this.#sendFirst(record);
  }
}

/** Returns the highest epoch of a site in its log. A start has to begin above it. */
export function getKnownEpoch<R>(
  { site, saved }: Omit<RedLogOptions<R>, 'entries'>,
  entries: readonly LogEntry<R>[],
): number {
  let known = saved?.progress.find(([origin]) => origin === site)?.[1] ?? 0;
  for (const { origin, epoch } of entries) if (origin === site) known = Math.max(known, epoch);
  return known;
}
