/**
 * One dequeue. Preliminary view: the operation simulated on the follower's state plus our own dequeues under way (§5.2).
 * Final view: the item of the claim that the ensemble has ordered.
 */
import type { Claim } from './claims.ts';
import { closedError, correctableError } from './failures.ts';
import type { QueueAccess } from './queue-access.ts';
import type { Counts, Item, UnderWay } from './queue.ts';
import { wants, type Call } from './run.ts';

/** How often a guess is made again whose item was gone before it could be read. */
const GUESSES_MAX = 3;

/** The number of the item that an empty queue gives. */
const NONE = -1;

/** What the preliminary view said: the number of the item that it showed. */
interface Guess {
  readonly number: number;
  readonly seq: number;
}

export async function dequeue(access: QueueAccess, call: Call): Promise<void> {
  const { sessions, sellers, window } = access;
  const room = window.enter();
  if (room !== undefined) await room;
  const enteredAtMs = performance.now();
  try {
    if (sessions.isClosed) throw closedError();
    await sessions.register();
    void sellers.look();
    await new Dequeue(access, call).run();
  } finally {
    window.leave(enteredAtMs);
  }
}

class Dequeue {
  readonly #access: QueueAccess;
  readonly #call: Call;
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

  async run(): Promise<void> {
    const { queue } = this.#access;
    const { agreement } = this.#access.sellers;
    for (;;) {
      // By what was seen last there is something left: the claim goes out at once, beside the question for the estimate.
      if ((queue.left ?? 0) <= 0 && (await this.#isEmpty())) return this.#finish(undefined);
      const underWay = queue.beginClaim();
      const awaited = agreement.begin(performance.now());
      let claim: Claim | undefined;
      try {
        // The question goes out first: it is what somebody waits for.
        const onPreliminary = this.#guessBefore(underWay);
        const isWanted = (): boolean => !this.#call.context.signal.aborted;
        claim = await this.#access.track(this.#access.claims.make({ isWanted, onPreliminary }));
        agreement.end(awaited, performance.now());
      } finally {
        agreement.drop(awaited);
        queue.endClaim(underWay, claim?.number);
      }
      if (this.#predicted !== undefined) queue.learn(this.#predicted === claim.number);
      const item = await this.#itemOf(claim);
      queue.forget(claim.number);
      if (item !== undefined && !item.isFiller) {
        this.#finish(item);
        this.#access.cleaner.add(claim);
        return;
      }
      // Somebody's filler, or a janitor took the claim for a dead one's: it is spent, and there may be other items.
      this.#access.cleaner.add(claim);
    }
  }

  /** Asks whether nothing is left: first the server as it is, then, if so, after it has caught up. */
  async #isEmpty(): Promise<boolean> {
    const { queue, sessions } = this.#access;
    const counts = sessions.persist('reader', (zk) => queue.count(zk));
    this.#guessOnce(undefined, counts);
    const { tail, head } = await counts;
    if (tail - head - queue.claimsBefore(undefined) > 0) return false;
    // Our own claims under way may take what is left: only when they have is it known that nothing is.
    await this.#access.settled();
    const synced = await sessions.persist('writer', (zk) => queue.countSynced(zk));
    return synced.tail - synced.head <= 0;
  }

  #guessOnce(underWay: UnderWay | undefined, counts?: Promise<Counts>): void {
    if (this.#isGuessing || !wants(this.#call, 'weak')) return;
    this.#isGuessing = true;
    const { queue, sessions } = this.#access;
    this.#tellGuess(underWay, counts ?? queue.count(sessions.reader)).catch((error: unknown) => {
      this.#call.sink.fail(correctableError(error), 'weak');
    });
  }

  async #tellGuess(underWay: UnderWay | undefined, first: Promise<Counts>): Promise<void> {
    const { queue, sessions } = this.#access;
    let counts = await first;
    for (let attempt = 1; attempt <= GUESSES_MAX; attempt += 1) {
      if (await this.#tellNumber(counts.head + queue.claimsBefore(underWay), counts.tail)) return;
      // Taken and removed meanwhile: look again.
      counts = await queue.count(sessions.reader);
    }
  }

  /**
   * Before the claim goes out: asks for the estimate, or, where the server gives the claim's number by itself, waits to hear
   * of it. Returns who hears.
   */
  #guessBefore(underWay: UnderWay): ((number: number) => void) | undefined {
    if (this.#isGuessing || !wants(this.#call, 'weak')) return undefined;
    const { queue, sessions } = this.#access;
    if (sessions.preliminaries !== true) {
      this.#guessOnce(underWay);
      return () => {}; // Only to find out whether this server does.
    }
    return (number) => {
      if (this.#isGuessing) return;
      this.#isGuessing = true;
      queue
        .tailAfter(sessions.reader, number)
        .then((tail) => this.#tellNumber(number, tail))
        .catch((error: unknown) => this.#call.sink.fail(correctableError(error), 'weak'));
    };
  }

  /** Tells what a claim with this number would take; returns false where that is gone already. */
  async #tellNumber(number: number, tail: number): Promise<boolean> {
    const { queue, sessions, sellers, codec } = this.#access;
    const remaining = tail - number - 1;
    this.#predicted = remaining < 0 ? undefined : number;
    const item = remaining < 0 ? undefined : await queue.guessItem(sessions.reader, { number, tail });
    if (this.#isOver) return true;
    if (remaining < 0) {
      this.#guess = { number: NONE, seq: this.#call.sink.update(null, 'weak', { meta: { remaining: 0 } }) };
      return true;
    }
    if (item === undefined || item.isFiller) return false;
    const value = { item: codec.decode(item.bytes) };
    const { elsewhere } = sellers;
    const meta = { remaining, ...(elsewhere && { elsewhere }) };
    this.#guess = { number: item.number, seq: this.#call.sink.update(value, 'weak', { meta }) };
    return true;
  }

  /** The item of our claim. Where there is none yet its number is filled, so that every claim has an item to end with. */
  async #itemOf({ number }: Claim): Promise<Item | undefined> {
    const { queue, sessions } = this.#access;
    const ahead = await queue.known(number)?.catch(() => undefined);
    if (ahead !== undefined) return ahead;
    const read = (): Promise<Item | undefined> => sessions.persist('writer', (zk) => queue.readItem(zk, number));
    const item = await read();
    if (item !== undefined) return item;
    for (;;) {
      const { tail } = await sessions.persist('writer', (zk) => queue.count(zk));
      if (tail > number) return await read();
      await this.#access.fill(number - tail + 1);
    }
  }

  #finish(item: Item | undefined): void {
    const { queue, codec, sessions } = this.#access;
    const { sink, session } = this.#call;
    this.#isOver = true;
    session?.advanceTo(sessions.writer.lastZxid);
    if (!wants(this.#call, 'strong')) return;
    const meta = { remaining: item === undefined ? 0 : queue.after(item.number) };
    if (this.#guess?.number === (item?.number ?? NONE)) sink.confirm('strong', this.#guess.seq, { meta });
    else sink.update(item === undefined ? null : { item: codec.decode(item.bytes) }, 'strong', { meta });
  }
}
