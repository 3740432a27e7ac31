/**
 * One dequeue. The preliminary view is simulated on the follower's state and own dequeues in flight
 * (§5.2). The final view is the item of its claim.
 */
import type { SubmissionStatus } from '../../../correctable/binding.ts';
import { isZooKeeperError } from '../client/errors.ts';
import type { Claim } from './claim-creator.ts';
import {
  isBusy,
  isConnectionLost,
  toNotAppliedError,
  createItemTakenError,
  throwNotApplied,
} from '../errors.ts';
import { createAbandonedError } from '../../shared/abandoned-error.ts';
import { findItem, readItem, type Item } from './items.ts';
import type { OwnClaim, QueueContext } from './queue-context.ts';
import type { InFlightWrite } from './queue-state.ts';
import { waitUntilSettled } from '../wait-until-settled.ts';
import { isRequested, type OperationCall } from '../operation-call.ts';

/**
 * How often a preliminary item is selected again because it was removed before it could be read.
 */
const MAX_PRELIMINARY_ATTEMPTS = 3;

/**
 * How long the reader's session has to find out whether the queue is empty. After that, the
 * writer's session is used.
 */
const READER_TIMEOUT_MS = 300;

export async function executeDequeue(access: QueueContext, call: OperationCall): Promise<void> {
  const { sessions, consumers, throttleGate } = access;
  const item = new Dequeue(access, call);
  call.context.submissionStatus = item;
  const room = throttleGate.enter(call.context);
  if (room !== undefined) await room;
  const enteredAtMs = performance.now();
  try {
    // The binding registers even if there turns out to be nothing to claim. From then on the other
    // bindings count it.
    await sessions.register().catch(throwNotApplied);
    void consumers.refresh();
    await item.run();
  } finally {
    throttleGate.release(enteredAtMs);
  }
}

class Dequeue implements SubmissionStatus {
  readonly blockedBy = undefined;
  readonly #access: QueueContext;
  readonly #call: OperationCall;
  mayHaveBeenSent = false;
  /**
   * Notifies dequeues that found the queue empty and wait for this claim: its item has been
   * delivered, or left to them.
   */
  #endClaimWait: () => void = () => {};
  #isPreliminaryBegun = false;
  #hasEnded = false;
  #predictedNumber: number | undefined;
  /** The preliminary view: the item that it showed, if any. */
  #preliminary: { readonly item: Item | undefined; readonly seq: number } | undefined;

  constructor(access: QueueContext, call: OperationCall) {
    this.#access = access;
    this.#call = call;
  }

  async run(): Promise<void> {
    for (;;) {
      const own = this.#takeUndelivered() ?? (await this.#acquireClaim());
      if (own !== undefined) {
        if (await this.#deliver(own).finally(this.#endClaimWait)) return;
        // The claim had no item, and there may be other items.
      } else if (this.#access.undeliveredClaims.length === 0) return this.#finish(undefined);
    }
  }

  /** Takes over a claim that another dequeue has created. Returns `undefined` if there is none. */
  #takeUndelivered(): OwnClaim | undefined {
    const { undeliveredClaims } = this.#access;
    if (undeliveredClaims.length === 0) return undefined;
    this.#markSent();
    this.#endClaimWait = this.#access.beginClaim();
    return undeliveredClaims.shift();
  }

  /**
   * Called right before a claim is sent or taken over. From then on an item may be taken. A caller
   * that gave up before got the error that no item was taken, so nothing may be sent for it.
   */
  #markSent(): void {
    if (this.#call.context.signal.aborted) throw createAbandonedError();
    this.mayHaveBeenSent = true;
  }

  /** Creates a claim of this dequeue. Returns `undefined` if nothing is left to be claimed. */
  async #acquireClaim(): Promise<OwnClaim | undefined> {
    const { queue, sessions, appender } = this.#access;
    for (;;) {
      sessions.checkOpen();
      // By the last replies the queue is not empty, so the claim is sent at once, together with the
      // request for the estimate.
      if ((queue.remaining ?? 0) <= 0 && (await this.#checkEmpty())) return undefined;
      try {
        return await this.#createClaim();
      } catch (error) {
        if (!isZooKeeperError(error, 'NO_NODE')) throw error;
        // The queue has been deleted since it was read, and was recreated only in part or not at
        // all.
        queue.handleClaimsDeleted();
        if (await this.#checkEmpty()) return undefined;
        await appender.createNodes().catch(throwNotApplied);
      }
    }
  }

  async #createClaim(): Promise<OwnClaim> {
    const { queue, claims } = this.#access;
    const { commitLatency } = this.#access.consumers;
    const inFlight = queue.beginClaim();
    const awaited = commitLatency.begin(performance.now());
    let claim: Claim | undefined;
    try {
      // Send this read before the claim, because a caller waits for the preliminary view.
      const onPreliminary = this.#preparePreliminary(inFlight);
      this.#access.watchDeletion();
      const { incarnation } = this.#access;
      this.#endClaimWait = this.#access.beginClaim();
      claim = await claims.create(() => this.#markSent(), onPreliminary);
      commitLatency.end(awaited, performance.now());
      if (this.#predictedNumber !== undefined)
        queue.recordPrediction(this.#predictedNumber === claim.number);
      return { claim, incarnation };
    } finally {
      if (claim === undefined) this.#endClaimWait();
      commitLatency.discard(awaited);
      queue.endClaim(inFlight, claim?.number);
    }
  }

  /**
   * Returns whether the queue is empty: first by the state of the server, then after a sync. Only a
   * claim can have a preliminary view.
   */
  async #checkEmpty(): Promise<boolean> {
    const { queue, sessions } = this.#access;
    let left: number | undefined;
    const reported = queue.readBounds(sessions.reader).then(({ tail, head }) => {
      left = tail - head - queue.countClaimsBefore(undefined);
      if (left <= 0 && this.#beginPreliminary()) this.#deliverPredictedEmpty();
    });
    await waitUntilSettled(READER_TIMEOUT_MS, [reported]);
    if (left !== undefined && left > 0) return false;
    // Own claims in flight may take the remaining items. Only their results show whether the queue
    // is empty.
    await this.#access.waitForClaims();
    const synced = await sessions.retryLost('writer', (zk) => queue.readSyncedBounds(zk));
    if (synced.tail - synced.head > 0) return false;
    // A dequeue that has taken the last item may leave it to this one, because its caller has
    // already seen an empty queue.
    await this.#access.waitForClaims();
    return true;
  }

  /** Returns whether a preliminary view is requested and has not begun yet. */
  #beginPreliminary(): boolean {
    if (this.#isPreliminaryBegun || this.#hasEnded || !isRequested(this.#call, 'weak'))
      return false;
    this.#isPreliminaryBegun = true;
    return true;
  }

  /** If only the preliminary view was requested, the final view is delivered in its place. */
  #failPreliminary(error: unknown): void {
    if (isRequested(this.#call, 'strong')) this.#call.sink.fail(toNotAppliedError(error), 'weak');
  }

  async #deliverPreliminary(inFlight: InFlightWrite): Promise<void> {
    const { queue, sessions } = this.#access;
    for (let attempt = 1; attempt <= MAX_PRELIMINARY_ATTEMPTS; attempt += 1) {
      // Repeated if the item was taken and removed meanwhile.
      const { tail, head } = await queue.readBounds(sessions.reader);
      if (await this.#deliverPredictedItem(head + queue.countClaimsBefore(inFlight), tail)) return;
    }
  }

  /**
   * Prepares the preliminary view before the claim is sent: requests an estimate, or returns a
   * listener for servers that predict the number of the claim.
   */
  #preparePreliminary(inFlight: InFlightWrite): ((number: number) => void) | undefined {
    const { queue, sessions } = this.#access;
    if (sessions.hasPreliminaryReplies !== true) {
      if (!this.#beginPreliminary()) return undefined;
      this.#deliverPreliminary(inFlight).catch((error: unknown) => this.#failPreliminary(error));
      return () => {}; // The listener only shows whether the server sends preliminary replies.
    }
    if (this.#isPreliminaryBegun || !isRequested(this.#call, 'weak')) return undefined;
    return (number) => {
      if (!this.#beginPreliminary()) return;
      queue
        .getTailAfter(sessions.reader, number)
        .then((tail) => this.#deliverPredictedItem(number, tail))
        .catch((error: unknown) => this.#failPreliminary(error));
    };
  }

  /**
   * Delivers the item that a claim with this number would take. Returns false if that item does not
   * exist any more.
   */
  async #deliverPredictedItem(number: number, tail: number): Promise<boolean> {
    const { queue, sessions, consumers, codec } = this.#access;
    const remaining = tail - number - 1;
    this.#predictedNumber = remaining < 0 ? undefined : number;
    if (remaining < 0) {
      if (!this.#hasEnded) this.#deliverPredictedEmpty();
      return true;
    }
    const at = { number, tail };
    const { reader } = sessions;
    const [item, hasFillers] = await Promise.all([
      queue.readPreliminaryItem(reader, at),
      queue.hasPlaceholders(reader, at),
    ]);
    if (this.#hasEnded) return true;
    if (item?.isPlaceholder === true) queue.recordPlaceholder(item.number);
    if (item === undefined || item.isPlaceholder) return false;
    const value = { item: codec.decode(item.bytes) };
    // It is unknown how many items other consumers can take, so no threshold is safe.
    const concurrentWriters = hasFillers ? undefined : consumers.concurrentWriters;
    const meta = { remaining, ...(concurrentWriters && { concurrentWriters }) };
    this.#preliminary = {
      item,
      seq: this.#call.sink.view(value, 'weak', { meta }),
    };
    return true;
  }

  #deliverPredictedEmpty(): void {
    this.#preliminary = {
      item: undefined,
      seq: this.#call.sink.view(null, 'weak', { meta: { remaining: 0 } }),
    };
  }

  /**
   * Delivers the item of a claim. Returns whether the claim has one. If it fails from here on, an
   * item has been taken.
   */
  async #deliver(own: OwnClaim): Promise<boolean> {
    const { queue, cleanup, undeliveredClaims } = this.#access;
    const { number } = own.claim;
    try {
      const item = await this.#getClaimedItem(own);
      queue.forgetItem(number);
      if (item === 'void') return false;
      const isItem = item !== 'none' && !item.isPlaceholder;
      const isForAnother = isItem && this.#wasReportedEmpty;
      if (isItem) this.#finish(item);
      if (isForAnother) undeliveredClaims.push(own);
      else cleanup.add(own.claim);
      return isItem;
    } catch (error) {
      // Keep the claim, so that the next dequeue of this binding delivers its item. If there is
      // none, the item is put back when the binding closes.
      if (isBusy(error) || isConnectionLost(error) || isZooKeeperError(error, 'CLIENT_CLOSED'))
        undeliveredClaims.push(own);
      throw createItemTakenError(number, error);
    }
  }

  /**
   * Returns the item of a claim: `none` if it was taken away again, `void` if the claim was deleted
   * with its queue.
   */
  async #getClaimedItem({ claim, incarnation }: OwnClaim): Promise<Item | 'none' | 'void'> {
    for (let known = incarnation; ;) {
      const item = await this.#findItem(claim.number, known);
      if (this.#access.incarnation === known) return item;
      // The queue may have been recreated. Then this item does not belong to the claim.
      known = this.#access.incarnation;
      // The notification has used up the watch, or its session has ended. This watches for the next
      // deletion.
      this.#access.watchDeletion();
      if (!(await this.#isClaimPresent(claim))) return 'void';
    }
  }

  /**
   * If there is no item with the number yet, adds a placeholder, so that every claim gets a result.
   */
  async #findItem(number: number, incarnation: number): Promise<Item | 'none'> {
    const { queue, sessions, placeholders } = this.#access;
    const ahead = await queue.getReadAhead(number)?.catch(() => undefined);
    if (ahead !== undefined && queue.isOfThisQueue(ahead, sessions.writer.lastZxid)) return ahead;
    const item = await sessions.retryBusy('writer', (zk) => readItem(zk, queue.paths, number));
    if (item !== undefined) return item;
    // This server may be behind the one that reported the deletion, so wait until it has caught up.
    for (;;) {
      const found = await sessions.retryBusy('writer', (zk) => findItem(zk, queue.paths, number));
      if (found.item !== undefined) return found.item;
      if (found.tail > number || this.#access.incarnation !== incarnation) return 'none';
      await placeholders.fillUpTo(number);
    }
  }

  #isClaimPresent({ name }: Claim): Promise<boolean> {
    const { paths } = this.#access.queue;
    return this.#access.sessions.retryBusy('writer', async (zk) => {
      const [, claim] = await Promise.all([zk.sync(paths.base), zk.exists(paths.claim(name))]);
      return claim !== null;
    });
  }

  /**
   * Whether only a preliminary view was requested, and it showed an empty queue. Then the item is
   * left to another consumer.
   */
  get #wasReportedEmpty(): boolean {
    return (
      this.#preliminary !== undefined &&
      this.#preliminary.item === undefined &&
      !isRequested(this.#call, 'strong')
    );
  }

  #finish(item: Item | undefined): void {
    const { queue, codec, sessions } = this.#access;
    const { sink, session } = this.#call;
    this.#hasEnded = true;
    session?.advanceTo(sessions.place);
    const guess = this.#preliminary;
    // If only the preliminary view was requested and was delivered, no other view follows, even if
    // the item differs. If there was none, the final view is delivered.
    if (!isRequested(this.#call, 'strong') && guess !== undefined) return;
    const meta = {
      remaining: item === undefined ? 0 : queue.countAfter(item.number),
    };
    if (guess !== undefined && isSameItem(guess.item, item))
      sink.confirm('strong', guess.seq, { meta });
    else
      sink.view(item === undefined ? null : { item: codec.decode(item.bytes) }, 'strong', { meta });
  }
}

/** Also compares the transactions, because the numbers of a recreated queue start at 0. */
function isSameItem(a: Item | undefined, b: Item | undefined): boolean {
  return a?.number === b?.number && a?.czxid === b?.czxid;
}
