/**
 * Exactly once across sites (docs/spec/exactly-once.md): whoever is asked for an operation walks from the slot at its
 * home, along the claims, to the slot that says what became of it, or to one that is open and in this site's own log.
 * A slot in another site's log is asked for there; if it is open, the asking claims it for this site.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import { NumberedTable } from '../../../protocol/numbered-table.ts';
import { Counts } from '../../collections/counts.ts';
import {
  errorOf,
  expiredError,
  failureOf,
  keyTakenError,
  mayHaveBegunError,
  unacknowledgedError,
} from '../../records/failure.ts';
import { EXPIRED } from './id-table.ts';
import { clientOf, isKeyed } from '../../records/operation-id.ts';
import type { Origin } from '../../records/origin.ts';
import type { AnswerRecord, OperationId, SlotDecision, SlotMessage } from '../../records/records.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import type { Identity, Submission } from '../../records/submissions.ts';
import { Slots, type Slot } from './slots.ts';
import type { Answer } from '../../records/reply.ts';

/** The way of one submission to its answer. */
export interface Walk {
  readonly submission: Submission;
  readonly identity: Identity;
  /** The slot that it has got to. */
  site: Origin;
  hop: number;
  /** When it began to ask the site of that slot, and when it last did. */
  sinceMs: number;
  askedAtMs: number;
}

/** What the walks need from the rest of the replica. */
export interface WalkHost {
  readonly core: ReplicaCore;
  /** Whether it would cost its client another one that it has not acknowledged, elsewhere than in this site's log. */
  isFullFor(submission: Submission): boolean;
  /** The walk has come to an open slot of this site's log: its operation is executed here. */
  executeIn(walk: Walk): void;
  /** The operation is red, and handed over. */
  goRed(submission: Submission): void;
  answerCommitted(submission: Submission, answer: Answer): void;
}

/** Walks that wait for another site, by the operation and the number of moves that they were asked with. */
const keyOf = (id: OperationId, hop: number): string => `${id}#${hop}`;

/**
 * The number of moves that a slot of another log is asked for with. An operation with an idempotency key has no client that
 * counts them: each claim counts one more than the slot that it decides, so that claims never lead in a circle.
 */
function movesOf({ identity, hop }: Walk): number {
  return isKeyed(identity.id) ? hop + 1 : identity.hop;
}

/** The slots of this site's log, and the submissions on their way along slots. */
export class Walks {
  readonly slots: Slots;
  readonly #host: WalkHost;
  readonly #asking = new Map<string, Walk[]>();
  /** Those that wait, by the serial of their submission, and of which operations they are. */
  readonly #waiting = new NumberedTable<Walk>();
  readonly #operations = new Counts();

  constructor(host: WalkHost, slots: Slots = new Slots(host.core.options.remembers?.endings)) {
    this.#host = host;
    this.slots = slots;
  }

  get busy(): boolean {
    return this.#asking.size > 0;
  }

  begin(submission: Submission, identity: Identity): void {
    this.#learn(identity);
    const { id, home, hop } = identity;
    const walk: Walk = { submission, identity, site: home, hop: 0, sinceMs: 0, askedAtMs: 0 };
    const isNew = home === this.#host.core.options.site && hop === 0 && this.slots.find(id, 0) === undefined;
    if (!isNew) return this.step(walk);
    // Refused before anything is decided: the newcomer, rather than what the client may still ask for.
    if (this.slots.isFullFor(clientOf(id)) || this.#host.isFullFor(submission)) {
      // An earlier copy may be about to begin.
      const isAlone = !this.#host.core.isWaitedFor(id);
      const refusal = isAlone ? unacknowledgedError(this.slots.limits) : mayHaveBegunError();
      return this.#host.answerCommitted(submission, refusal);
    }
    return this.#host.executeIn(walk);
  }

  /** Goes on from where the walk has got to. */
  step(walk: Walk): void {
    if (walk.site !== this.#host.core.options.site) return this.#askAt(walk);
    const slot = this.slots.find(walk.identity.id, walk.hop);
    if (slot === undefined) this.#stepToOpen(walk);
    else if (slot === EXPIRED) this.#fail(walk, expiredError());
    else if (slot.isSettled) this.#follow(walk, slot.decision);
    else this.#stepOnceSettled(walk, slot);
  }

  #stepToOpen(walk: Walk): void {
    const rival = this.slots.rivalOf(walk.identity.id);
    if (rival === undefined) this.#host.executeIn(walk);
    // Until its entry is synced, a crash may undo it.
    else if (rival !== EXPIRED && !rival.isSettled) this.#stepOnceSettled(walk, rival);
    else this.#fail(walk, keyTakenError());
  }

  /** Nobody waits any more for what was submitted under this serial: gives it where its walk waits here. */
  leave(serial: number): Submission | undefined {
    const walk = this.#waiting.get(serial);
    if (walk === undefined) return undefined;
    this.#goOn(walk);
    const key = keyOf(walk.identity.id, movesOf(walk));
    this.#keepAsking(
      key,
      (this.#asking.get(key) ?? []).filter((each) => each !== walk),
    );
    return walk.submission;
  }

  /** Whether a walk of this operation waits here. */
  hasOf(id: OperationId): boolean {
    return this.#operations.has(id);
  }

  /** Decides the open slot that the walk has come to, by an entry that says nothing else. */
  store(walk: Walk, decision: SlotDecision): void {
    const { id } = walk.identity;
    const slot = this.slots.decide(id, walk.hop, decision);
    this.#stepOnceSettled(walk, slot);
    this.#append(id, walk.hop, slot);
  }

  receive(from: Origin, message: SlotMessage): void {
    if (message.kind === 'slot.ask') this.#onAsk(from, message);
    else this.#onTold(from, message);
  }

  /** Asks again where no answer came; says `UNKNOWN` where none came for long. */
  tick(): void {
    const { nowMs, options } = this.#host.core;
    for (const [key, walks] of this.#asking) {
      const left = walks.filter(({ sinceMs }) => nowMs - sinceMs < options.reachTimeoutMs);
      this.#keepAsking(key, left);
      for (const walk of walks) {
        if (!left.includes(walk)) {
          this.#goOn(walk);
          this.#fail(walk, this.#unknownError(walk));
        } else if (nowMs - walk.askedAtMs >= options.resendAfterMs) this.#ask(walk);
      }
    }
  }

  /** What the client has the answers of need not be kept. */
  #learn({ id, acknowledged }: Identity): void {
    const client = clientOf(id);
    if (acknowledged === 0 || !this.slots.expire(client, acknowledged)) return;
    this.#host.core.store({ kind: 'expire', client, upTo: acknowledged }, () => {});
  }

  #wait(walk: Walk): void {
    this.#waiting.set(walk.submission.serial, walk);
    this.#operations.add(walk.identity.id);
  }

  /** The walk waits no longer; says whether it did. */
  #goOn({ submission: { serial }, identity: { id } }: Walk): boolean {
    if (this.#waiting.get(serial) === undefined) return false;
    this.#waiting.delete(serial);
    this.#operations.take(id);
    return true;
  }

  #stepOnceSettled(walk: Walk, slot: Slot): void {
    this.#wait(walk);
    this.slots.whenSettled(slot, () => {
      if (this.#goOn(walk)) this.step(walk);
    });
  }

  #keepAsking(key: string, walks: Walk[]): void {
    if (walks.length > 0) this.#asking.set(key, walks);
    else this.#asking.delete(key);
  }

  #askAt(walk: Walk): void {
    const key = keyOf(walk.identity.id, movesOf(walk));
    this.#wait(walk);
    walk.sinceMs = this.#host.core.nowMs;
    this.#asking.set(key, [...(this.#asking.get(key) ?? []), walk]);
    this.#ask(walk);
  }

  #ask(walk: Walk): void {
    walk.askedAtMs = this.#host.core.nowMs;
    this.#send(walk.site, { kind: 'slot.ask', id: walk.identity.id, hop: walk.hop, by: movesOf(walk) });
  }

  #onAsk(from: Origin, { id, hop, by }: SlotMessage & { kind: 'slot.ask' }): void {
    const known = this.slots.find(id, hop);
    const rival = known === undefined ? this.slots.rivalOf(id) : undefined;
    const refusal = rival && ({ kind: 'record', failure: failureOf(keyTakenError()), vector: [] } as const);
    const slot = known ?? rival ?? this.#claimFor(from, { id, hop, by });
    const tell = (decision: SlotDecision | undefined): void => {
      this.#send(from, { kind: 'slot.told', id, hop, by, decision: refusal ?? decision });
    };
    if (slot === EXPIRED) tell(undefined);
    else this.slots.whenSettled(slot, () => tell(slot.decision));
  }

  #claimFor(site: Origin, { id, hop, by }: { id: OperationId; hop: number; by: number }): Slot {
    const slot = this.slots.decide(id, hop, { kind: 'claim', site, hop: by });
    this.#append(id, hop, slot);
    return slot;
  }

  #onTold(from: Origin, { id, hop, by, decision }: SlotMessage & { kind: 'slot.told' }): void {
    const key = keyOf(id, by);
    const walks = this.#asking.get(key) ?? [];
    const isAnswered = (walk: Walk): boolean => walk.site === from && walk.hop === hop;
    this.#keepAsking(
      key,
      walks.filter((walk) => !isAnswered(walk)),
    );
    for (const walk of walks.filter(isAnswered)) {
      this.#goOn(walk);
      if (decision === undefined) this.#fail(walk, expiredError());
      else this.#follow(walk, decision);
    }
  }

  /** Goes where the settled decision of the slot points. */
  #follow(walk: Walk, decision: SlotDecision): void {
    switch (decision.kind) {
      case 'record':
        return this.#answer(walk, decision);
      case 'handover':
        return this.#host.goRed(walk.submission);
      case 'claim':
        if (this.hasMovedOn(walk, decision)) return this.#fail(walk, movedOnError());
        return this.goTo(walk, decision);
    }
  }

  protected goTo(walk: Walk, { site, hop }: { readonly site: Origin; readonly hop: number }): void {
    walk.site = site;
    walk.hop = hop;
    this.step(walk);
  }

  /** Whether the client has taken the operation elsewhere since, or asks two sites at once. */
  protected hasMovedOn({ identity }: Walk, claim: SlotDecision & { kind: 'claim' }): boolean {
    if (isKeyed(identity.id)) return false;
    return claim.hop > identity.hop || (claim.hop === identity.hop && claim.site !== this.#host.core.options.site);
  }

  /** An answer of another site is told where all that it depends on can be seen. */
  #answer(walk: Walk, { reply, failure, vector }: AnswerRecord): void {
    const { coverage, nowMs, options } = this.#host.core;
    const answer = failure === undefined ? (reply ?? { value: undefined }) : errorOf(failure);
    coverage.when(vector, {
      untilMs: nowMs + options.reachTimeoutMs,
      run: () => this.#host.answerCommitted(walk.submission, answer),
      late: () => this.#fail(walk, this.#unknownError(walk)),
    });
  }

  #append(id: OperationId, hop: number, slot: Slot): void {
    const { decision } = slot;
    this.#host.core.store({ kind: 'slot', id, hop, decision }, () => this.slots.settle(id, slot));
  }

  #unknownError({ site }: Walk): CorrectableError {
    const name = this.#host.core.options.origins.nameOf(site);
    const message = `Site ${name}, where the operation was sent before, cannot be reached. It may still take effect: ask again.`;
    return new CorrectableError('UNKNOWN', message);
  }

  #fail(walk: Walk, error: CorrectableError): void {
    this.#host.answerCommitted(walk.submission, error);
  }

  #send(to: Origin, message: SlotMessage): void {
    this.#host.core.emit({ kind: 'send', to, message });
  }
}

/** Nobody waits for this: the answer is given to the submission of the later move. */
function movedOnError(): CorrectableError {
  return new CorrectableError('ABORTED', 'The client has asked for the operation at another site since.');
}
