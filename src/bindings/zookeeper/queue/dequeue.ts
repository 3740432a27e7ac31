/**
 * One dequeue. Preliminary: simulated on the follower and own dequeues in
 * flight (§5.2). Final: the item of its claim.
 */
import type { SubmissionStatus } from '../../../correctable/binding.ts';
import { isZooKeeperError } from '../client/errors.ts';
import type { Claim } from './claim-creator.ts';
import {
  createAbandonedError,
  isBusy,
  isConnectionLost,
  toNotAppliedError,
  createItemTakenError,
  throwNotApplied,
} from '../errors.ts';
import { findItem, readItem, type Item } from './items.ts';
import type { OwnClaim, QueueContext } from './queue-context.ts';
import type { InFlightWrite } from './queue-state.ts';
import { waitUntilSettled } from '../wait-until-settled.ts';
import { isRequested, type OperationCall } from '../operation-call.ts';

/**
 * How often a guess is made again whose item was gone before it could be read.
 */
const MAX_PRELIMINARY_ATTEMPTS = 3;

/**
 * How long the reader may take to say whether anything is left, before the
 * writer is asked.
 */
const READER_TIMEOUT_MS = 300;

export async function executeDequeue(
  access: QueueContext,
  call: OperationCall,
): Promise<void> {
  const { sessions, consumers, throttleGate } = access;
  const item = new Dequeue(access, call);
  call.context.submissionStatus = item;
  const room = throttleGate.enter(call.context);
  if (room !== undefined) await room;
  const enteredAtMs = performance.now();
  try {
    // Also where there turns out to be nothing to claim: from then on the
    // others count this binding.
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
   * Ends what others wait for who find nothing: the claim in flight has been
   * delivered, or left to them.
   */
  #endClaimWait: () => void = () => {};
  #isPreliminaryBegun = false;
  #hasEnded = false;
  #predictedNumber: number | undefined;
  /** What the preliminary view said: the item that it showed, if any. */
  #preliminary:
    | { readonly item: Item | undefined; readonly seq: number }
    | undefined;

  constructor(access: QueueContext, call: OperationCall) {
    this.#access = access;
    this.#call = call;
  }

  async run(): Promise<void> {
    for (;;) {
      const own = this.#takeUndelivered() ?? (await this.#acquireClaim());
      if (own !== undefined) {
        if (await this.#deliver(own).finally(this.#endClaimWait)) return;
        // It is spent, and there may be other items.
      } else if (this.#access.undeliveredClaims.length === 0)
        return this.#finish(undefined);
    }
  }

  /**
   * A claim that another dequeue has made; undefined where none is left over.
   */
  #takeUndelivered(): OwnClaim | undefined {
    const { undeliveredClaims } = this.#access;
    if (undeliveredClaims.length === 0) return undefined;
    this.#markSent();
    this.#endClaimWait = this.#access.beginClaim();
    return undeliveredClaims.shift();
  }

  /**
   * From here on an item may be taken. A caller that gave up before was
   * notified that none was taken.
   */
  #markSent(): void {
    if (this.#call.context.signal.aborted) throw createAbandonedError();
    this.mayHaveBeenSent = true;
  }

  /** A claim of our own; undefined where nothing is left to be claimed. */
  async #acquireClaim(): Promise<OwnClaim | undefined> {
    const { queue, sessions, appender } = this.#access;
    for (;;) {
      sessions.checkOpen();
      // By what was seen last there is something left: the claim goes out at
      // once, beside the question for the estimate.
      if ((queue.remaining ?? 0) <= 0 && (await this.#checkEmpty()))
        return undefined;
      try {
        return await this.#createClaim();
      } catch (error) {
        if (!isZooKeeperError(error, 'NO_NODE')) throw error;
        // The queue has been deleted since it was read, and was not made again,
        // or only in part.
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
      // The read goes out first, since a caller waits for it.
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
   * Whether nothing is left: asks the server as it is, then after a sync. Only
   * a claim can give a preliminary view.
   */
  async #checkEmpty(): Promise<boolean> {
    const { queue, sessions } = this.#access;
    let left: number | undefined;
    const reported = queue
      .readBounds(sessions.reader)
      .then(({ tail, head }) => {
        left = tail - head - queue.countClaimsBefore(undefined);
        if (left <= 0 && this.#beginPreliminary())
          this.#deliverPredictedEmpty();
      });
    await waitUntilSettled(READER_TIMEOUT_MS, [reported]);
    if (left !== undefined && left > 0) return false;
    // Our own claims under way may take what is left: only when they have is it
    // known that nothing is.
    await this.#access.waitForClaims();
    const synced = await sessions.retryLost('writer', (zk) =>
      queue.readSyncedBounds(zk),
    );
    if (synced.tail - synced.head > 0) return false;
    // A dequeue that has taken the last item may leave it to this one, whose
    // caller has seen an empty queue already.
    await this.#access.waitForClaims();
    return true;
  }

  /** Whether a preliminary view is wanted, and not requested yet. */
  #beginPreliminary(): boolean {
    if (
      this.#isPreliminaryBegun ||
      this.#hasEnded ||
      !isRequested(this.#call, 'weak')
    )
      return false;
    this.#isPreliminaryBegun = true;
    return true;
  }

  /**
   * Where nothing but a guess was asked for, the final view answers in its
   * place.
   */
  #failPreliminary(error: unknown): void {
    if (isRequested(this.#call, 'strong'))
      this.#call.sink.fail(toNotAppliedError(error), 'weak');
  }

  async #deliverPreliminary(inFlight: InFlightWrite): Promise<void> {
    const { queue, sessions } = this.#access;
    for (let attempt = 1; attempt <= MAX_PRELIMINARY_ATTEMPTS; attempt += 1) {
      // Again where it was taken and removed meanwhile.
      const { tail, head } = await queue.readBounds(sessions.reader);
      if (
        await this.#deliverPredictedItem(
          head + queue.countClaimsBefore(inFlight),
          tail,
        )
      )
        return;
    }
  }

  /**
   * Before the claim: asks for an estimate, or returns who hears the claim's
   * number from a server that predicts it.
   */
  #preparePreliminary(
    inFlight: InFlightWrite,
  ): ((number: number) => void) | undefined {
    const { queue, sessions } = this.#access;
    if (sessions.hasPreliminaryReplies !== true) {
      if (!this.#beginPreliminary()) return undefined;
      this.#deliverPreliminary(inFlight).catch((error: unknown) =>
        this.#failPreliminary(error),
      );
      return () => {}; // Only to find out whether this server does.
    }
    if (this.#isPreliminaryBegun || !isRequested(this.#call, 'weak'))
      return undefined;
    return (number) => {
      if (!this.#beginPreliminary()) return;
      queue
        .getTailAfter(sessions.reader, number)
        .then((tail) => this.#deliverPredictedItem(number, tail))
        .catch((error: unknown) => this.#failPreliminary(error));
    };
  }

  /**
   * Tells what a claim with this number would take; returns false where that is
   * gone already.
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
    // How many are left for anybody is not known then: no threshold is safe.
    const concurrentWriters = hasFillers
      ? undefined
      : consumers.concurrentWriters;
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
   * Tells the item of our claim, and says whether it has one. What fails from
   * here on fails with an item in hand.
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
      // Another dequeue may have more luck: unless it asks, the item stays ours
      // until the binding closes.
      if (
        isBusy(error) ||
        isConnectionLost(error) ||
        isZooKeeperError(error, 'CLIENT_CLOSED')
      )
        undeliveredClaims.push(own);
      throw createItemTakenError(number, error);
    }
  }

  /**
   * What the claim has taken: `none` where it was taken away again, `void`
   * where the claim went with its queue.
   */
  async #getClaimedItem({
    claim,
    incarnation,
  }: OwnClaim): Promise<Item | 'none' | 'void'> {
    for (let known = incarnation; ;) {
      const item = await this.#findItem(claim.number, known);
      if (this.#access.incarnation === known) return item;
      // The queue may be another one: then this item is not ours.
      known = this.#access.incarnation;
      // What was heard has used up the watch, or ended with its session: from
      // here on the next end is heard of too.
      this.#access.watchDeletion();
      if (!(await this.#isClaimPresent(claim))) return 'void';
    }
  }

  /**
   * Where there is no item yet its number is filled, so that every claim has
   * something to end with.
   */
  async #findItem(number: number, incarnation: number): Promise<Item | 'none'> {
    const { queue, sessions, placeholders } = this.#access;
    const ahead = await queue.getReadAhead(number)?.catch(() => undefined);
    if (
      ahead !== undefined &&
      queue.isOfThisQueue(ahead, sessions.writer.lastZxid)
    )
      return ahead;
    const item = await sessions.retryBusy('writer', (zk) =>
      readItem(zk, queue.paths, number),
    );
    if (item !== undefined) return item;
    // This server may be behind the one that reported the end of the queue:
    // wait until it has caught up.
    for (;;) {
      const found = await sessions.retryBusy('writer', (zk) =>
        findItem(zk, queue.paths, number),
      );
      if (found.item !== undefined) return found.item;
      if (found.tail > number || this.#access.incarnation !== incarnation)
        return 'none';
      await placeholders.fillUpTo(number);
    }
  }

  #isClaimPresent({ name }: Claim): Promise<boolean> {
    const { paths } = this.#access.queue;
    return this.#access.sessions.retryBusy('writer', async (zk) => {
      const [, claim] = await Promise.all([
        zk.sync(paths.base),
        zk.exists(paths.claim(name)),
      ]);
      return claim !== null;
    });
  }

  /**
   * Whether only a preliminary view was requested, and it was empty: then the
   * item goes to another consumer.
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
    session?.advanceTo(sessions.writer.lastZxid);
    const guess = this.#preliminary;
    // Where nothing but a guess was asked for, it stands, right or wrong;
    // without one the final view answers.
    if (!isRequested(this.#call, 'strong') && guess !== undefined) return;
    const meta = {
      remaining: item === undefined ? 0 : queue.countAfter(item.number),
    };
    if (guess !== undefined && isSameItem(guess.item, item))
      sink.confirm('strong', guess.seq, { meta });
    else
      sink.view(
        item === undefined ? null : { item: codec.decode(item.bytes) },
        'strong',
        { meta },
      );
  }
}

/**
 * Compares the transactions too, since a queue that was made again counts from
 * 0.
 */
function isSameItem(a: Item | undefined, b: Item | undefined): boolean {
  return a?.number === b?.number && a?.czxid === b?.czxid;
}
