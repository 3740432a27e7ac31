/**
 * Exactly once across sites (docs/spec/exactly-once.md). A site that gets an
 * operation walks from the slot at the home of the operation along the claims.
 * The walk ends at the slot with the result, or at an open slot in this site's
 * own log. A slot in another site's log is requested there. If it is open, the
 * request claims it for this site.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import { SequenceMap } from '../../../protocol/sequence-map.ts';
import { NameCounts } from '../../collections/counts.ts';
import {
  toError,
  expiredError,
  toFailure,
  keyTakenError,
  mayHaveStartedError,
  unacknowledgedError,
  UNKNOWN_ADVICE,
} from '../../records/failures.ts';
import { EXPIRED } from './id-table.ts';
import { getClient, isKeyed } from '../../records/operation-id.ts';
import type { Origin } from '../../records/origin.ts';
import type {
  ReplyRecord,
  OperationId,
  SlotDecision,
  SlotMessage,
} from '../../records/records.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import type { Vector } from '../../records/vector.ts';
import type {
  SubmissionIdentity,
  Submission,
} from '../../records/submissions.ts';
import { DedupSlots, type DedupSlot, ReceivedReplies } from './dedup-slots.ts';
import type { ReplyOrError } from '../../records/reply.ts';

/** Of nearly all: shared, since a lookup is made for every write. */
const NO_MEMBERS: readonly Origin[] = [];

/** The way of one submission to its answer. */
export class OperationLookup {
  readonly submission: Submission;
  readonly identity: SubmissionIdentity;
  /** The slot that it has got to. */
  site: Origin;
  hop = 0;
  /** When it began to ask the site of that slot, and when it last did. */
  sinceMs = 0;
  requestedAtMs = 0;
  /** The highest hop of a slot so far. */
  maxHop = 0;
  /**
   * Members whose logs are still to be asked, if the home of the key is closed.
   */
  unvisited: readonly Origin[] = NO_MEMBERS;
  /** Whether the first slot of this site's log was looked at. */
  hasSeenFirst = false;

  constructor(submission: Submission, identity: SubmissionIdentity) {
    this.submission = submission;
    this.identity = identity;
    this.site = identity.home;
  }
}

export interface OperationLookupHost {
  readonly core: ReplicaCore;
  /**
   * Whether it would cost its client another one that it has not acknowledged,
   * elsewhere than in this site's log.
   */
  isFullFor(submission: Submission): boolean;
  /**
   * The walk has come to an open slot of this site's log: its operation is
   * executed here.
   */
  executeIn(lookup: OperationLookup): void;
  /**
   * Whether the red log has the operation: then its submission is answered by
   * that.
   */
  joinRed(submission: Submission): boolean;
  /** The operation is red, and handed over. */
  escalateToRed(submission: Submission): void;
  replyCommitted(submission: Submission, answer: ReplyOrError): void;
}

/**
 * Walks that wait for another site, by the operation and the number of moves
 * that they were asked with.
 */
const formatLookupKey = (id: OperationId, hop: number): string =>
  `${id}#${hop}`;

/**
 * The moves to request a slot with. If no client counts them, each claim counts
 * one more: they never form a circle.
 */
function countMoves({ identity, maxHop }: OperationLookup): number {
  return isKeyed(identity.id) ? maxHop + 1 : identity.hop;
}

/**
 * How long an operation waits for a disconnected site: most often its process
 * has ended, and the client can go on.
 */
const DISCONNECTED_TIMEOUT_MS = 500;

export class OperationLookups {
  readonly slots: DedupSlots;
  /** Answers of what was received of other sites, where those are kept. */
  readonly received: ReceivedReplies | undefined;
  readonly #host: OperationLookupHost;
  readonly #requesting = new Map<string, OperationLookup[]>();
  /**
   * Those that wait, by the serial of their submission, and of which operations
   * they are.
   */
  readonly #waiting = new SequenceMap<OperationLookup>();
  readonly #operations = new NameCounts();
  readonly #disconnected = new Set<Origin>();

  constructor(
    host: OperationLookupHost,
    slots: DedupSlots = new DedupSlots(
      host.core.options.retentionLimits?.maxOutcomes,
    ),
  ) {
    this.#host = host;
    this.slots = slots;
    this.received =
      host.core.options.keepsReceivedReplies === true
        ? new ReceivedReplies()
        : undefined;
  }

  get isBusy(): boolean {
    return this.#requesting.size > 0;
  }

  begin(submission: Submission, identity: SubmissionIdentity): void {
    this.#learn(identity);
    const { id, home, hop } = identity;
    const lookup = new OperationLookup(submission, identity);
    if (isKeyed(id) && !this.#host.core.options.origins.isMember(home))
      return this.#visitMembers(lookup);
    const isNew =
      home === this.#host.core.options.site &&
      hop === 0 &&
      this.slots.find(id, 0) === undefined;
    if (!isNew) return this.step(lookup);
    // Refused before anything is decided: the newcomer, rather than what the
    // client may still ask for.
    if (
      this.slots.isFullFor(getClient(id)) ||
      this.#host.isFullFor(submission)
    ) {
      // An earlier copy may be about to begin.
      const isAlone = !this.#host.core.hasWaiter(id);
      const rejection = isAlone
        ? unacknowledgedError(this.slots.limits)
        : mayHaveStartedError();
      return this.#host.replyCommitted(submission, rejection);
    }
    return this.#host.executeIn(lookup);
  }

  /** Goes on from where the walk has got to. */
  step(lookup: OperationLookup): void {
    if (lookup.site !== this.#host.core.options.site) {
      const record = this.received?.find(lookup.identity.id, lookup);
      if (record !== undefined) return this.#reply(lookup, record);
      if (this.#host.core.options.origins.isMember(lookup.site))
        return this.#requestAt(lookup);
      // Only the red order can still decide what a closed origin has done.
      return this.#host.joinRed(lookup.submission)
        ? undefined
        : this.#fail(lookup, this.#unknownError(lookup));
    }
    const { id } = lookup.identity;
    lookup.hasSeenFirst ||= lookup.hop === 0;
    const slot =
      this.slots.find(id, lookup.hop) ?? this.#findKeyed(id, lookup.hop);
    const record =
      slot === undefined ? this.#findReceived(id, lookup.hop) : undefined;
    if (record !== undefined) this.#reply(lookup, record);
    else if (slot === undefined) this.#stepToOpen(lookup);
    else if (slot === EXPIRED) this.#fail(lookup, expiredError());
    else if (slot.isFinal) this.#follow(lookup, slot.decision);
    else this.#stepWhenFinal(lookup, slot);
  }

  #stepToOpen(lookup: OperationLookup): void {
    const { id } = lookup.identity;
    const rival = this.slots.rivalOf(id);
    if (rival === undefined) {
      const { site } = this.#host.core.options;
      // Another site may have claimed it here since its home is closed, of
      // which this one has not heard.
      const isFirstOpen =
        lookup.hasSeenFirst ||
        !isKeyed(id) ||
        this.slots.find(id, 0) === undefined;
      if (!isFirstOpen) this.goTo(lookup, { site, hop: 0 });
      else if (lookup.unvisited.length === 0) this.#host.executeIn(lookup);
      // So that sites which ask the members at once agree: the first one in the
      // log of the first member goes on.
      else if (lookup.hop === 0)
        this.#stepWhenFinal(
          lookup,
          this.#claimSlot(site, { id, hop: 0, by: countMoves(lookup) }),
        );
      else this.#visitNext(lookup);
    }
    // Until its entry is synced, a crash may undo it.
    else if (rival !== EXPIRED && !rival.isFinal)
      this.#stepWhenFinal(lookup, rival);
    else this.#fail(lookup, keyTakenError());
  }

  /**
   * The home of a key is closed, and its log is gone: asks all members in
   * order, and claims the slot at each.
   */
  #visitMembers(lookup: OperationLookup): void {
    const { origins } = this.#host.core.options;
    if (this.#host.joinRed(lookup.submission)) return;
    if (!this.#isSettled) return this.#fail(lookup, this.#unknownError(lookup));
    lookup.unvisited = origins.members;
    this.#visitNext(lookup);
  }

  #visitNext(lookup: OperationLookup): void {
    const [site, ...others] = lookup.unvisited as readonly [
      Origin,
      ...Origin[],
    ];
    lookup.unvisited = others;
    this.goTo(lookup, { site, hop: 0 });
  }

  /**
   * Whether the streams of closed origins have ended, and all of them is here.
   */
  get #isSettled(): boolean {
    const { options, state } = this.#host.core;
    return options.origins.closed.every((origin) => {
      const { final } = options.origins.get(origin);
      return final !== undefined && (state.stable[origin] ?? 0) >= final.stamp;
    });
  }

  /** What this site's log has of an operation with a key, at whichever hop. */
  #findKeyed(
    id: OperationId,
    hop: number,
  ): DedupSlot | typeof EXPIRED | undefined {
    return isKeyed(id) && hop === 0 ? this.slots.findLatest(id) : undefined;
  }

  #findReceived(id: OperationId, hop: number): ReplyRecord | undefined {
    return isKeyed(id) && hop === 0 ? this.received?.findAny(id) : undefined;
  }

  /**
   * No caller waits any more for the submission with this serial: returns it if
   * its walk waits here.
   */
  cancel(serial: number): Submission | undefined {
    const lookup = this.#waiting.get(serial);
    if (lookup === undefined) return undefined;
    this.#resume(lookup);
    const key = formatLookupKey(lookup.identity.id, countMoves(lookup));
    this.#resendRequest(
      key,
      (this.#requesting.get(key) ?? []).filter((item) => item !== lookup),
    );
    return lookup.submission;
  }

  hasOperation(id: OperationId): boolean {
    return this.#operations.has(id);
  }

  /**
   * Decides the open slot that the walk has come to, by an entry that says
   * nothing else.
   */
  store(lookup: OperationLookup, decision: SlotDecision): void {
    const { id } = lookup.identity;
    const slot = this.slots.decide(id, lookup.hop, decision);
    this.#stepWhenFinal(lookup, slot);
    this.#append(id, lookup.hop, slot);
  }

  receive(from: Origin, message: SlotMessage): void {
    if (message.kind === 'slot.request') this.#onRequest(from, message);
    else this.#onResponse(from, message);
  }

  /**
   * Asks again where no answer came; says `UNKNOWN` where none came for long.
   */
  tick(): void {
    const { nowMs, options } = this.#host.core;
    for (const [key, lookups] of this.#requesting) {
      const left = lookups.filter(
        ({ site, sinceMs }) => nowMs - sinceMs < this.#getTimeoutMs(site),
      );
      this.#resendRequest(key, left);
      for (const lookup of lookups) {
        if (!left.includes(lookup)) {
          this.#resume(lookup);
          this.#fail(lookup, this.#unknownError(lookup));
        } else if (nowMs - lookup.requestedAtMs >= options.resendAfterMs)
          this.#sendRequest(lookup);
      }
    }
  }

  /**
   * The connection to a site is lost, or is there again. Without a word all are
   * taken for connected.
   */
  setConnected(site: Origin, isConnected: boolean): void {
    if (isConnected) this.#disconnected.delete(site);
    else this.#disconnected.add(site);
  }

  #getTimeoutMs(site: Origin): number {
    const { reachTimeoutMs } = this.#host.core.options;
    return this.#disconnected.has(site)
      ? Math.min(DISCONNECTED_TIMEOUT_MS, reachTimeoutMs)
      : reachTimeoutMs;
  }

  /** What the client has the answers of need not be kept. */
  #learn({ id, acknowledged }: SubmissionIdentity): void {
    const client = getClient(id);
    this.received?.expire(client, acknowledged);
    if (acknowledged === 0 || !this.slots.expire(client, acknowledged)) return;
    this.#host.core.store(
      { kind: 'expire', client, upTo: acknowledged },
      () => {},
    );
  }

  #wait(lookup: OperationLookup): void {
    this.#waiting.set(lookup.submission.serial, lookup);
    this.#operations.increment(lookup.identity.id);
  }

  /** The walk waits no longer; says whether it did. */
  #resume({
    submission: { serial },
    identity: { id },
  }: OperationLookup): boolean {
    if (this.#waiting.get(serial) === undefined) return false;
    this.#waiting.delete(serial);
    this.#operations.decrement(id);
    return true;
  }

  #stepWhenFinal(lookup: OperationLookup, slot: DedupSlot): void {
    this.#wait(lookup);
    this.slots.runWhenFinal(slot, () => {
      if (this.#resume(lookup)) this.step(lookup);
    });
  }

  #resendRequest(key: string, lookups: OperationLookup[]): void {
    if (lookups.length > 0) this.#requesting.set(key, lookups);
    else this.#requesting.delete(key);
  }

  #requestAt(lookup: OperationLookup): void {
    const key = formatLookupKey(lookup.identity.id, countMoves(lookup));
    this.#wait(lookup);
    lookup.sinceMs = this.#host.core.nowMs;
    this.#requesting.set(key, [...(this.#requesting.get(key) ?? []), lookup]);
    this.#sendRequest(lookup);
  }

  #sendRequest(lookup: OperationLookup): void {
    lookup.requestedAtMs = this.#host.core.nowMs;
    this.#send(lookup.site, {
      kind: 'slot.request',
      id: lookup.identity.id,
      hop: lookup.hop,
      by: countMoves(lookup),
    });
  }

  #onRequest(
    from: Origin,
    { id, hop, by }: SlotMessage & { kind: 'slot.request' },
  ): void {
    // Its sender asks again.
    if (isKeyed(id) && !this.#isSettled) return;
    const known = this.slots.find(id, hop) ?? this.#findKeyed(id, hop);
    const received =
      known === undefined ? this.#findReceived(id, hop) : undefined;
    if (received !== undefined)
      return this.#send(from, {
        kind: 'slot.answered',
        id,
        hop,
        by,
        decision: received,
      });
    const rival = known === undefined ? this.slots.rivalOf(id) : undefined;
    const rejection =
      rival &&
      ({
        kind: 'record',
        failure: toFailure(keyTakenError()),
        vector: [],
      } as const);
    const slot = known ?? rival ?? this.#claimSlot(from, { id, hop, by });
    const tell = (decision: SlotDecision | undefined): void => {
      this.#send(from, {
        kind: 'slot.answered',
        id,
        hop,
        by,
        decision: rejection ?? decision,
      });
    };
    if (slot === EXPIRED) tell(undefined);
    else this.slots.runWhenFinal(slot, () => tell(slot.decision));
  }

  #claimSlot(
    site: Origin,
    { id, hop, by }: { id: OperationId; hop: number; by: number },
  ): DedupSlot {
    const slot = this.slots.decide(id, hop, { kind: 'claim', site, hop: by });
    this.#append(id, hop, slot);
    return slot;
  }

  #onResponse(
    from: Origin,
    { id, hop, by, decision }: SlotMessage & { kind: 'slot.answered' },
  ): void {
    const key = formatLookupKey(id, by);
    const lookups = this.#requesting.get(key) ?? [];
    const isAnswered = (lookup: OperationLookup): boolean =>
      lookup.site === from && lookup.hop === hop;
    this.#resendRequest(
      key,
      lookups.filter((lookup) => !isAnswered(lookup)),
    );
    for (const walk of lookups.filter(isAnswered)) {
      this.#resume(walk);
      if (decision === undefined) this.#fail(walk, expiredError());
      else this.#follow(walk, decision);
    }
  }

  /** Goes where the settled decision of the slot points. */
  #follow(lookup: OperationLookup, decision: SlotDecision): void {
    switch (decision.kind) {
      case 'record':
        return this.#reply(lookup, decision);
      case 'handover':
        return this.#host.escalateToRed(lookup.submission);
      case 'claim':
        if (this.hasMovedOn(lookup, decision))
          return this.#fail(lookup, movedOnError());
        return this.goTo(lookup, decision);
    }
  }

  protected goTo(
    lookup: OperationLookup,
    { site, hop }: { readonly site: Origin; readonly hop: number },
  ): void {
    lookup.site = site;
    lookup.hop = hop;
    lookup.maxHop = Math.max(lookup.maxHop, hop);
    this.step(lookup);
  }

  /**
   * Whether the client has taken the operation elsewhere since, or asks two
   * sites at once.
   */
  protected hasMovedOn(
    { identity }: OperationLookup,
    claim: SlotDecision & { kind: 'claim' },
  ): boolean {
    if (isKeyed(identity.id)) return false;
    return (
      claim.hop > identity.hop ||
      (claim.hop === identity.hop &&
        claim.site !== this.#host.core.options.site)
    );
  }

  /**
   * A reply of another site is delivered once all that it depends on can be
   * seen here.
   */
  #reply(
    lookup: OperationLookup,
    { reply, failure, vector }: ReplyRecord,
  ): void {
    const { coverage, nowMs, options } = this.#host.core;
    const answer =
      failure === undefined
        ? (reply ?? { value: undefined })
        : toError(failure);
    coverage.runWhenCovered(vector, {
      untilMs: nowMs + options.reachTimeoutMs,
      run: () =>
        this.#host.replyCommitted(
          lookup.submission,
          this.#isLost(vector) ? lostError() : answer,
        ),
      late: () => this.#fail(lookup, this.#unknownError(lookup)),
    });
  }

  /**
   * Whether it rests on what stands beyond the end of a closed stream: coverage
   * does not wait for that.
   */
  #isLost(vector: Vector | undefined): boolean {
    const { finals } = this.#host.core.options.origins;
    return (
      finals?.some(
        (final, entry) => final !== undefined && (vector?.[entry] ?? 0) > final,
      ) === true
    );
  }

  #append(id: OperationId, hop: number, slot: DedupSlot): void {
    const { decision } = slot;
    this.#host.core.store({ kind: 'slot', id, hop, decision }, () =>
      this.slots.finalize(id, slot),
    );
  }

  #unknownError({ site }: OperationLookup): CorrectableError {
    const { origins } = this.#host.core.options;
    const name = origins.getName(site);
    const problem = origins.isMember(site)
      ? `Site ${name}, where the operation was sent before, cannot be reached. It may still take effect`
      : `Site ${name}, where the operation belongs, was closed, and no other site knows what became of it`;
    return new CorrectableError('UNKNOWN', `${problem}. ${UNKNOWN_ADVICE}`);
  }

  #fail(lookup: OperationLookup, error: CorrectableError): void {
    this.#host.replyCommitted(lookup.submission, error);
  }

  #send(to: Origin, message: SlotMessage): void {
    this.#host.core.emit({ kind: 'send', to, message });
  }
}

/** The site that has executed it was closed, and no other one has it. */
function lostError(): CorrectableError {
  const message =
    'The site where the operation was executed was closed before others had it. It is lost with that site.';
  return new CorrectableError('UNKNOWN', message);
}

/**
 * Returns the error for a submission whose client has moved: the submission of
 * the later move gets the answer.
 */
function movedOnError(): CorrectableError {
  return new CorrectableError(
    'ABORTED',
    'The client has asked for the operation at another site since.',
  );
}
