/**
 * Exactly once across sites (docs/spec/exactly-once.md). A site that gets an operation looks for
 * its result. The lookup begins at the slot at the operation's home and follows the claims. It ends
 * at the slot with the result, or at an open slot in this site's own log. A slot in another site's
 * log is requested there. If it is open, the request claims it for this site.
 */
import type { SitePart } from '../../core/site-part.ts';
import type { Section } from '../../../service/records/checkpoint.ts';
import type { BlueOperation } from '../../../service/records/records.ts';
import { CorrectableError } from '../../../../correctable/errors.ts';
import { SequenceMap } from '../../../../protocol/sequence-map.ts';
import { NameCounts } from '../../../service/collections/counts.ts';
import {
  toError,
  expiredError,
  toFailure,
  keyTakenError,
  mayHaveStartedError,
  unacknowledgedError,
  UNKNOWN_ADVICE,
} from '../../../service/records/failures.ts';
import { EXPIRED } from './id-table.ts';
import { getClient, isKeyed } from '../../core/operation-id.ts';
import type { Origin } from '../../../service/records/origin.ts';
import type {
  ReplyRecord,
  OperationId,
  SlotDecision,
  SlotMessage,
} from '../../../service/records/records.ts';
import type { SiteCore } from '../../core/site-core.ts';
import type { Vector } from '../../../service/records/vector.ts';
import type { SubmissionIdentity, Submission } from '../../core/submissions.ts';
import { type DedupSlot, type DedupSlots, ReceivedReplies } from './dedup-slots.ts';
import type { ReplyOrError } from '../../../service/records/reply.ts';

/** The list of almost all lookups. It is shared, since a lookup is created for every write. */
const NO_MEMBERS: readonly Origin[] = [];

/** The search of one submission for its result. */
export class OperationLookup {
  readonly submission: Submission;
  readonly identity: SubmissionIdentity;
  /** The site of the slot that the lookup has reached. */
  site: Origin;
  hop = 0;
  /** When it first requested that slot from its site, and when it last did. */
  sinceMs = 0;
  requestedAtMs = 0;
  /** The highest hop of a slot so far. */
  maxHop = 0;
  /** Members that have to be asked still, if the home of the key is closed. */
  unvisited: readonly Origin[] = NO_MEMBERS;
  /** Whether the first slot in this site's log was checked. */
  hasSeenFirst = false;

  constructor(submission: Submission, identity: SubmissionIdentity) {
    this.submission = submission;
    this.identity = identity;
    this.site = identity.home;
  }
}

export interface OperationLookupHost {
  readonly core: SiteCore;
  /**
   * Whether the operation would cost its client another one that it has not acknowledged, outside
   * of this site's log.
   */
  isFullFor(submission: Submission): boolean;
  /** The lookup has reached an open slot of this site's log: its operation is executed here. */
  executeIn(lookup: OperationLookup): void;
  /** Whether the red log has the operation. Then its submission is answered from there. */
  joinRed(submission: Submission): boolean;
  /** The operation is red, and was handed over to the red log. */
  escalateToRed(submission: Submission): void;
  replyCommitted(submission: Submission, answer: ReplyOrError): void;
}

/**
 * Returns the key of lookups that wait for the same slot: the operation and the number of moves of
 * the request.
 */
const formatLookupKey = (id: OperationId, hop: number): string => `${id}#${hop}`;

/**
 * Returns the number of moves of a request. If no client counts moves, each claim counts one more,
 * so that claims never form a circle.
 */
function countMoves({ identity, maxHop }: OperationLookup): number {
  return isKeyed(identity.id) ? maxHop + 1 : identity.hop;
}

/**
 * How long an operation waits for a disconnected site. Most often the process of that site has
 * ended, and the client can go on elsewhere.
 */
const DISCONNECTED_TIMEOUT_MS = 500;

export class OperationLookups implements SitePart {
  readonly kinds = ['slot.request', 'slot.answered'] as const;
  readonly slots: DedupSlots;
  /**
   * Replies of operations that were received from other sites. It is `undefined` if they are not
   * kept.
   */
  readonly received: ReceivedReplies | undefined;
  readonly #host: OperationLookupHost;
  readonly #requesting = new Map<string, OperationLookup[]>();
  /** Waiting lookups by the serial of their submission, and the number of them by operation. */
  readonly #waiting = new SequenceMap<OperationLookup>();
  readonly #operations = new NameCounts();
  readonly #disconnected = new Set<Origin>();

  constructor(host: OperationLookupHost, slots: DedupSlots) {
    this.#host = host;
    this.slots = slots;
    this.received =
      host.core.options.keepsReceivedReplies === true
        ? new ReceivedReplies(host.core.options.sizes)
        : undefined;
  }

  /** About how many bytes the identifiers and replies take in memory. */
  get memoryBytes(): number {
    return this.slots.memoryBytes + (this.received?.memoryBytes ?? 0);
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
      home === this.#host.core.options.site && hop === 0 && this.slots.find(id, 0) === undefined;
    if (!isNew) return this.step(lookup);
    // The new operation is refused before anything is decided. So the client keeps those for which
    // it may send retries.
    if (this.slots.isFullFor(getClient(id)) || this.#host.isFullFor(submission)) {
      // An earlier copy may be about to begin.
      const isAlone = !this.#host.core.hasWaiter(id);
      const rejection = isAlone ? unacknowledgedError(this.slots.limits) : mayHaveStartedError();
      return this.#host.replyCommitted(submission, rejection);
    }
    return this.#host.executeIn(lookup);
  }

  /** Continues a lookup at the slot that it has reached. */
  step(lookup: OperationLookup): void {
    if (lookup.site !== this.#host.core.options.site) {
      const record = this.received?.find(lookup.identity.id, lookup);
      if (record !== undefined) return this.#reply(lookup, record);
      if (this.#host.core.options.origins.isMember(lookup.site)) return this.#requestAt(lookup);
      // Only the red order can still decide what a closed origin has done.
      return this.#host.joinRed(lookup.submission)
        ? undefined
        : this.#fail(lookup, this.#unknownError(lookup));
    }
    const { id } = lookup.identity;
    lookup.hasSeenFirst ||= lookup.hop === 0;
    const slot = this.slots.find(id, lookup.hop) ?? this.#findKeyed(id, lookup.hop);
    const record = slot === undefined ? this.#findReceived(id, lookup.hop) : undefined;
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
      // Another site may have claimed the operation here since its home was closed, before this
      // site knew that.
      const isFirstOpen =
        lookup.hasSeenFirst || !isKeyed(id) || this.slots.find(id, 0) === undefined;
      if (!isFirstOpen) this.goTo(lookup, { site, hop: 0 });
      else if (lookup.unvisited.length === 0) this.#host.executeIn(lookup);
      // Sites that ask the members at the same time have to agree: the first claim in the log of
      // the first member wins.
      else if (lookup.hop === 0)
        this.#stepWhenFinal(lookup, this.#claimSlot(site, { id, hop: 0, by: countMoves(lookup) }));
      else this.#visitNext(lookup);
    }
    // A crash may undo the decision until its entry is synced.
    else if (rival !== EXPIRED && !rival.isFinal) this.#stepWhenFinal(lookup, rival);
    else this.#fail(lookup, keyTakenError());
  }

  /**
   * The home of a key is closed, and its log is gone. Asks all members in order, and claims the
   * slot at each.
   */
  #visitMembers(lookup: OperationLookup): void {
    const { origins } = this.#host.core.options;
    if (this.#host.joinRed(lookup.submission)) return;
    if (!this.#isSettled) return this.#fail(lookup, this.#unknownError(lookup));
    lookup.unvisited = origins.members;
    this.#visitNext(lookup);
  }

  #visitNext(lookup: OperationLookup): void {
    const [site, ...others] = lookup.unvisited as readonly [Origin, ...Origin[]];
    lookup.unvisited = others;
    this.goTo(lookup, { site, hop: 0 });
  }

  /** Whether the streams of closed origins have ended, and are complete here. */
  get #isSettled(): boolean {
    const { options, state } = this.#host.core;
    return options.origins.closed.every((origin) => {
      const { final } = options.origins.get(origin);
      return final !== undefined && (state.stable[origin] ?? 0) >= final.stamp;
    });
  }

  /** Returns the slot of an operation with a key in this site's log, at any hop. */
  #findKeyed(id: OperationId, hop: number): DedupSlot | typeof EXPIRED | undefined {
    return isKeyed(id) && hop === 0 ? this.slots.findLatest(id) : undefined;
  }

  #findReceived(id: OperationId, hop: number): ReplyRecord | undefined {
    return isKeyed(id) && hop === 0 ? this.received?.findAny(id) : undefined;
  }

  get sections(): Readonly<Record<string, Section>> {
    return { ...this.slots.sections, ...this.received?.sections };
  }

  /** An operation of another site: its reply is kept. Own ones are in their slots. */
  onBlueApplied(operation: BlueOperation): void {
    if (operation.site !== this.#host.core.options.site) this.received?.add(operation);
  }

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

  hasWaiter(id: OperationId): boolean {
    return this.#operations.has(id);
  }

  /**
   * Decides the open slot that the lookup has reached, by an entry that contains only the decision.
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
   * Sends requests again that were not answered. Fails with `UNKNOWN` if no answer came for long.
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
        } else if (nowMs - lookup.requestedAtMs >= options.resendAfterMs) this.#sendRequest(lookup);
      }
    }
  }

  /**
   * The connection to a site was lost, or is open again. Sites count as connected until this is
   * called.
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

  /** Forgets the results that the client has acknowledged. */
  #learn({ id, acknowledged }: SubmissionIdentity): void {
    const client = getClient(id);
    this.received?.expire(client, acknowledged);
    if (acknowledged === 0 || !this.slots.expire(client, acknowledged)) return;
    this.#host.core.store({ kind: 'expire', client, upTo: acknowledged }, () => {});
  }

  #wait(lookup: OperationLookup): void {
    this.#waiting.set(lookup.submission.serial, lookup);
    this.#operations.increment(lookup.identity.id);
  }

  /** Ends the wait of a lookup. Returns whether it waited. */
  #resume({ submission: { serial }, identity: { id } }: OperationLookup): boolean {
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

  #onRequest(from: Origin, { id, hop, by }: SlotMessage & { kind: 'slot.request' }): void {
    // The sender of the request sends it again.
    if (isKeyed(id) && !this.#isSettled) return;
    const known = this.slots.find(id, hop) ?? this.#findKeyed(id, hop);
    const received = known === undefined ? this.#findReceived(id, hop) : undefined;
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
    for (const lookup of lookups.filter(isAnswered)) {
      this.#resume(lookup);
      if (decision === undefined) this.#fail(lookup, expiredError());
      else this.#follow(lookup, decision);
    }
  }

  /** Follows the settled decision of a slot. */
  #follow(lookup: OperationLookup, decision: SlotDecision): void {
    switch (decision.kind) {
      case 'record':
        return this.#reply(lookup, decision);
      case 'handover':
        return this.#host.escalateToRed(lookup.submission);
      case 'claim':
        if (this.hasMovedOn(lookup, decision)) return this.#fail(lookup, movedOnError());
        return this.goTo(lookup, decision);
    }
  }

  goTo(
    lookup: OperationLookup,
    { site, hop }: { readonly site: Origin; readonly hop: number },
  ): void {
    lookup.site = site;
    lookup.hop = hop;
    lookup.maxHop = Math.max(lookup.maxHop, hop);
    this.step(lookup);
  }

  /** Whether the client has moved the operation since, or submits it at two sites at once. */
  hasMovedOn({ identity }: OperationLookup, claim: SlotDecision & { kind: 'claim' }): boolean {
    if (isKeyed(identity.id)) return false;
    return (
      claim.hop > identity.hop ||
      (claim.hop === identity.hop && claim.site !== this.#host.core.options.site)
    );
  }

  /** Delivers a reply of another site once everything that it depends on is visible here. */
  #reply(lookup: OperationLookup, { reply, failure, vector }: ReplyRecord): void {
    const { coverage, nowMs, options } = this.#host.core;
    const answer = failure === undefined ? (reply ?? { value: undefined }) : toError(failure);
    coverage.runWhenCovered(vector, {
      untilMs: nowMs + options.reachTimeoutMs,
      run: () =>
        this.#host.replyCommitted(lookup.submission, this.#isLost(vector) ? lostError() : answer),
      late: () => this.#fail(lookup, this.#unknownError(lookup)),
    });
  }

  /**
   * Whether the reply depends on operations beyond the end of a closed stream. These never become
   * visible.
   */
  #isLost(vector: Vector | undefined): boolean {
    const { finals } = this.#host.core.options.origins;
    return (
      finals?.some((final, entry) => final !== undefined && (vector?.[entry] ?? 0) > final) === true
    );
  }

  #append(id: OperationId, hop: number, slot: DedupSlot): void {
    const { decision } = slot;
    this.#host.core.store({ kind: 'slot', id, hop, decision }, () => this.slots.finalize(id, slot));
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
    this.#host.core.outputs.send(to, message);
  }
}

/**
 * Returns the error of an operation whose executing site was closed, and that no other site has.
 */
function lostError(): CorrectableError {
  const message =
    'The site where the operation was executed was closed before others had it. It is lost with that site.';
  return new CorrectableError('UNKNOWN', message);
}

/**
 * Returns the error for a submission whose client has moved: the submission of the later move gets
 * the answer.
 */
function movedOnError(): CorrectableError {
  return new CorrectableError(
    'ABORTED',
    'The client has asked for the operation at another site since.',
  );
}
