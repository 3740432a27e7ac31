/**
 * One dequeue. Preliminary view: the operation simulated on the follower's state plus our own dequeues under way (§5.2).
 * Final view: the item of the claim that the ensemble has ordered.
 */
import type { Whereabouts } from '../../../correctable/binding.ts';
import { isZooKeeperError } from '../client/errors.ts';
import type { Claim } from './claims.ts';
import { givenUpError, isBusy, isLost, notDoneError, takenError, throwNotDone } from '../failures.ts';
import { findItem, readItem, type Item } from './items.ts';
import type { OwnClaim, QueueAccess } from './queue-access.ts';
import type { UnderWay } from './queue.ts';
import { settledWithin } from '../settled-within.ts';
import { wants, type Call } from '../run.ts';

/** How often a guess is made again whose item was gone before it could be read. */
const GUESSES_MAX = 3;

/** How long the reader may take to say whether anything is left, before the writer is asked. */
const READER_MS = 300;

/** What the preliminary view said: the item that it showed, if any. */
interface Guess {
  readonly item: Item | undefined;
  readonly seq: number;
}

export async function dequeue(access: QueueAccess, call: Call): Promise<void> {
  const { sessions, sellers, window } = access;
  const one = new Dequeue(access, call);
  call.context.whereabouts = one;
  const room = window.enter(call.context);
  if (room !== undefined) await room;
  const enteredAtMs = performance.now();
  try {
    // Also where there turns out to be nothing to claim: from then on the others count this binding.
    await sessions.register().catch(throwNotDone);
    void sellers.look();
    await one.run();
  } finally {
    window.leave(enteredAtMs);
  }
}

class Dequeue implements Whereabouts {
  readonly obstacle = undefined;
  readonly #access: QueueAccess;
  readonly #call: Call;
  #mayHaveLeft = false;
  /** Ends what others wait for who find nothing: the claim under way has been delivered, or left to them. */
  #delivered: () => void = () => {};
  #isGuessing = false;
  #isOver = false;
  /** The number that the claim should get. */
  #predicted: number | undefined;
  /** The preliminary view, once it has been told. */
  #guess: Guess | undefined;

  constructor(access: QueueAccess, call: Call) {
    this.#access = access;
    this.#call = call;
  }

  get mayHaveLeft(): boolean {
    return this.#mayHaveLeft;
  }

  async run(): Promise<void> {
    for (;;) {
      const own = this.#unread() ?? (await this.#claim());
      if (own !== undefined) {
        if (await this.#deliver(own).finally(this.#delivered)) return;
        // It is spent, and there may be other items.
      } else if (this.#access.unread.length === 0) return this.#finish(undefined);
    }
  }

  /** A claim that another dequeue has made; undefined where none is left over. */
  #unread(): OwnClaim | undefined {
    const { unread } = this.#access;
    if (unread.length === 0) return undefined;
    this.#leave();
    this.#delivered = this.#access.beginClaim();
    return unread.shift();
  }

  /** From here on something may be taken: who gave up before was told that it was not. */
  #leave(): void {
    if (this.#call.context.signal.aborted) throw givenUpError();
    this.#mayHaveLeft = true;
  }

  /** A claim of our own; undefined where nothing is left to be claimed. */
  async #claim(): Promise<OwnClaim | undefined> {
    const { queue, sessions, appends } = this.#access;
    for (;;) {
      sessions.requireOpen();
      // By what was seen last there is something left: the claim goes out at once, beside the question for the estimate.
      if ((queue.left ?? 0) <= 0 && (await this.#isEmpty())) return undefined;
      try {
        return await this.#makeClaim();
      } catch (error) {
        if (!isZooKeeperError(error, 'NO_NODE')) throw error;
        // The queue has been deleted since we looked, and not or only in part been made anew.
        queue.claimsGone();
        if (await this.#isEmpty()) return undefined;
        await appends.make().catch(throwNotDone);
      }
    }
  }

  async #makeClaim(): Promise<OwnClaim> {
    const { queue, claims } = this.#access;
    const { agreement } = this.#access.sellers;
    const underWay = queue.beginClaim();
    const awaited = agreement.begin(performance.now());
    let claim: Claim | undefined;
    try {
      // The question goes out first: it is what somebody waits for.
      const onPreliminary = this.#guessBefore(underWay);
      this.#access.watchEnd();
      const { incarnation } = this.#access;
      this.#delivered = this.#access.beginClaim();
      claim = await claims.make({ leaving: () => this.#leave(), onPreliminary });
      agreement.end(awaited, performance.now());
      if (this.#predicted !== undefined) queue.learn(this.#predicted === claim.number);
      return { claim, incarnation };
    } finally {
      if (claim === undefined) this.#delivered();
      agreement.drop(awaited);
      queue.endClaim(underWay, claim?.number);
    }
  }

  /**
   * Asks whether nothing is left: first the server as it is, then, if so or if it does not say, after it has caught up. Of
   * what is left it tells no guess: only a claim under way knows which others are before it.
   */
  async #isEmpty(): Promise<boolean> {
    const { queue, sessions } = this.#access;
    let left: number | undefined;
    const told = queue.count(sessions.reader).then(({ tail, head }) => {
      left = tail - head - queue.claimsBefore(undefined);
      if (left <= 0 && this.#beginGuess()) this.#guessNone();
    });
    await settledWithin(READER_MS, [told]);
    if (left !== undefined && left > 0) return false;
    // Our own claims under way may take what is left: only when they have is it known that nothing is.
    await this.#access.settled();
    const synced = await sessions.persist('writer', (zk) => queue.countSynced(zk));
    if (synced.tail - synced.head > 0) return false;
    // One that has taken the last item may leave it to us: it was told already that there is none.
    await this.#access.settled();
    return true;
  }

  /** Whether a guess is wanted that nobody has begun to make. */
  #beginGuess(): boolean {
    if (this.#isGuessing || this.#isOver || !wants(this.#call, 'weak')) return false;
    this.#isGuessing = true;
    return true;
  }

  /** Where nothing but a guess was asked for, the final view answers in its place. */
  #noGuess(error: unknown): void {
    if (wants(this.#call, 'strong')) this.#call.sink.fail(notDoneError(error), 'weak');
  }

  async #tellGuess(underWay: UnderWay): Promise<void> {
    const { queue, sessions } = this.#access;
    for (let attempt = 1; attempt <= GUESSES_MAX; attempt += 1) {
      // Again where it was taken and removed meanwhile.
      const { tail, head } = await queue.count(sessions.reader);
      if (await this.#tellNumber(head + queue.claimsBefore(underWay), tail)) return;
    }
  }

  /**
   * Before the claim goes out: asks for the estimate, or, where the server gives the claim's number by itself, waits to hear
   * of it. Returns who hears.
   */
  #guessBefore(underWay: UnderWay): ((number: number) => void) | undefined {
    const { queue, sessions } = this.#access;
    if (sessions.preliminaries !== true) {
      if (!this.#beginGuess()) return undefined;
      this.#tellGuess(underWay).catch((error: unknown) => this.#noGuess(error));
      return () => {}; // Only to find out whether this server does.
    }
    if (this.#isGuessing || !wants(this.#call, 'weak')) return undefined;
    return (number) => {
      if (!this.#beginGuess()) return;
      queue
        .tailAfter(sessions.reader, number)
        .then((tail) => this.#tellNumber(number, tail))
        .catch((error: unknown) => this.#noGuess(error));
    };
  }

  /** Tells what a claim with this number would take; returns false where that is gone already. */
  async #tellNumber(number: number, tail: number): Promise<boolean> {
    const { queue, sessions, sellers, codec } = this.#access;
    const remaining = tail - number - 1;
    this.#predicted = remaining < 0 ? undefined : number;
    if (remaining < 0) {
      if (!this.#isOver) this.#guessNone();
      return true;
    }
    const at = { number, tail };
    const { reader } = sessions;
    const [item, hasFillers] = await Promise.all([queue.guessItem(reader, at), queue.hasFillers(reader, at)]);
    if (this.#isOver) return true;
    if (item?.isFiller === true) queue.sawFiller(item.number);
    if (item === undefined || item.isFiller) return false;
    const value = { item: codec.decode(item.bytes) };
    // How many are left for anybody is not known then: no threshold is safe.
    const elsewhere = hasFillers ? undefined : sellers.elsewhere;
    const meta = { remaining, ...(elsewhere && { elsewhere }) };
    this.#guess = { item, seq: this.#call.sink.update(value, 'weak', { meta }) };
    return true;
  }

  #guessNone(): void {
    this.#guess = { item: undefined, seq: this.#call.sink.update(null, 'weak', { meta: { remaining: 0 } }) };
  }

  /** Tells the item of our claim, and says whether it has one. What fails from here on fails with an item in hand. */
  async #deliver(own: OwnClaim): Promise<boolean> {
    const { queue, cleaner, unread } = this.#access;
    const { number } = own.claim;
    try {
      const item = await this.#itemOf(own);
      queue.forgetItem(number);
      if (item === 'void') return false;
      const isItem = item !== 'none' && !item.isFiller;
      const isForAnother = isItem && this.#isToldEmpty;
      if (isItem) this.#finish(item);
      if (isForAnother) unread.push(own);
      else cleaner.add(own.claim);
      return isItem;
    } catch (error) {
      // Another dequeue may have more luck: unless it asks, the item stays ours until the binding closes.
      if (isBusy(error) || isLost(error) || isZooKeeperError(error, 'CLIENT_CLOSED')) unread.push(own);
      throw takenError(number, error);
    }
  }

  /** What the claim has taken: `none` where it was taken away again, `void` where the claim went with its queue. */
  async #itemOf({ claim, incarnation }: OwnClaim): Promise<Item | 'none' | 'void'> {
    for (let known = incarnation; ;) {
      const item = await this.#lookFor(claim.number, known);
      if (this.#access.incarnation === known) return item;
      // The queue may be another one: then this item is not ours.
      known = this.#access.incarnation;
      // What was heard has used up the watch, or ended with its session: from here on the next end is heard of too.
      this.#access.watchEnd();
      if (!(await this.#isStanding(claim))) return 'void';
    }
  }

  /** Where there is no item yet its number is filled, so that every claim has something to end with. */
  async #lookFor(number: number, incarnation: number): Promise<Item | 'none'> {
    const { queue, sessions, fillers } = this.#access;
    const ahead = await queue.known(number)?.catch(() => undefined);
    if (ahead !== undefined && queue.isOfThisQueue(ahead, sessions.writer.lastZxid)) return ahead;
    const item = await sessions.insist('writer', (zk) => readItem(zk, queue.paths, number));
    if (item !== undefined) return item;
    // This server may be behind the one that told where the queue ends: nothing is given up before it has caught up.
    for (;;) {
      const found = await sessions.insist('writer', (zk) => findItem(zk, queue.paths, number));
      if (found.item !== undefined) return found.item;
      if (found.tail > number || this.#access.incarnation !== incarnation) return 'none';
      await fillers.fill(number);
    }
  }

  #isStanding({ name }: Claim): Promise<boolean> {
    const { paths } = this.#access.queue;
    return this.#access.sessions.insist('writer', async (zk) => {
      const [, claim] = await Promise.all([zk.sync(paths.base), zk.exists(paths.claim(name))]);
      return claim !== null;
    });
  }

  /** Whether a guess was all that was asked for, and it said that nothing is left: the item is for somebody else, then. */
  get #isToldEmpty(): boolean {
    return this.#guess !== undefined && this.#guess.item === undefined && !wants(this.#call, 'strong');
  }

  #finish(item: Item | undefined): void {
    const { queue, codec, sessions } = this.#access;
    const { sink, session } = this.#call;
    this.#isOver = true;
    session?.advanceTo(sessions.writer.lastZxid);
    const guess = this.#guess;
    // Where nothing but a guess was asked for, it stands, right or wrong; without one the final view answers.
    if (!wants(this.#call, 'strong') && guess !== undefined) return;
    const meta = { remaining: item === undefined ? 0 : queue.after(item.number) };
    if (guess !== undefined && isSame(guess.item, item)) sink.confirm('strong', guess.seq, { meta });
    else sink.update(item === undefined ? null : { item: codec.decode(item.bytes) }, 'strong', { meta });
  }
}

/** The number alone does not tell: a queue that was made anew counts from 0 again. */
function isSame(a: Item | undefined, b: Item | undefined): boolean {
  return a?.number === b?.number && a?.czxid === b?.czxid;
}
