/**
 * The state of one queue that this binding knows, from two replies of constant size
 * (`next-number.ts`).
 */
import type { ZooKeeper } from '../client/zookeeper.ts';
import type { QueuePaths } from '../paths.ts';
import { readItem, type Item } from './items.ts';
import { NextNumber, computeNextNumber, type ChildCounters } from './next-number.ts';

/** The beginning and the end of a queue, by the state of one server. */
export interface QueueBounds {
  readonly tail: number;
  /** The number of the next claim. It is the number of the first item that is not taken. */
  readonly head: number;
  /** The server had applied all transactions up to this one when it sent the first reply. */
  readonly zxid: bigint;
}

/** An update of this binding in flight, by its number among those that were begun. */
export type InFlightWrite = number;

const LEARNING_RATE = 0.25;
/**
 * Predictions stop below this hit rate, and continue above it, because some come true by chance.
 */
const MIN_HIT_RATE = 0.5;
const RESUME_HIT_RATE = 0.75;
const MAX_TAIL_AGE_MS = 50;

const MAX_READ_AHEAD_ITEMS = 1024;

export class QueueState {
  readonly paths: QueuePaths;
  /**
   * Changes when the queue was, or may have been, deleted and recreated. Earlier numbers do not
   * count then.
   */
  incarnation = 0;
  readonly #claims = new Set<InFlightWrite>();
  readonly #enqueues = new Set<InFlightWrite>();
  readonly #readAhead = new Map<number, Promise<Item | undefined>>();
  #order = 0;
  /** The recent share of predictions that came true. */
  #hitRate = 1;
  #isPredicting = true;
  #tailItem: Item | undefined;
  #lastPlaceholder = -1;
  /** The last number that was checked for a placeholder. */
  #lastCheckedNumber = -1;
  readonly #tail = new NextNumber();
  #tailSeenAt = -Infinity;
  readonly #head = new NextNumber();
  /**
   * Items that were created before this transaction may belong to a queue of the same name that was
   * deleted. `undefined` if it is not known yet.
   */
  #minZxid: bigint | undefined = 0n;

  constructor(paths: QueuePaths) {
    this.paths = paths;
  }

  handleItemsDeleted(): void {
    this.#tail.reset();
    this.reset();
  }

  /** The ensemble was restored: its counts may be lower than those seen. */
  handleRestored(): void {
    this.#tail.restart();
    this.#head.restart();
    this.reset();
  }

  handleClaimsDeleted(): void {
    this.#head.reset();
    this.reset();
  }

  /** The queue may have been recreated. Forgets everything that was known of the former queue. */
  reset(): void {
    this.incarnation += 1;
    this.#minZxid = undefined;
    this.#readAhead.clear();
    this.#tailItem = undefined;
    this.#lastPlaceholder = -1;
    this.#lastCheckedNumber = -1;
  }

  /**
   * Whether this object can be forgotten without a loss: it has seen no item that was added or
   * taken.
   */
  get isUnknown(): boolean {
    return (this.#tail.value ?? 0) === 0 && (this.#head.value ?? 0) === 0;
  }

  beginClaim(): InFlightWrite {
    return this.#addInFlight(this.#claims);
  }

  beginEnqueue(): InFlightWrite {
    return this.#addInFlight(this.#enqueues);
  }

  /** The update has its number, so an estimate may count it as executed. */
  endClaim(claim: InFlightWrite, number?: number): void {
    this.#claims.delete(claim);
    if (number !== undefined) this.#head.advanceTo(number + 1);
  }

  endEnqueue(enqueue: InFlightWrite, number?: number): void {
    this.#enqueues.delete(enqueue);
    if (number !== undefined && this.#tail.value !== undefined) this.#tail.advanceTo(number + 1);
  }

  /**
   * Returns the number of own claims in flight that were begun before `claim`. The server may not
   * have executed them yet.
   */
  countClaimsBefore(claim: InFlightWrite | undefined): number {
    return countBefore(this.#claims, claim);
  }

  countEnqueuesBefore(enqueue: InFlightWrite | undefined): number {
    return countBefore(this.#enqueues, enqueue);
  }

  /**
   * The number of items left by the last reply, after all claims in flight. `undefined` before the
   * first reply.
   */
  get remaining(): number | undefined {
    const tail = this.#tail.value;
    return tail === undefined ? undefined : tail - (this.#head.value ?? 0) - this.#claims.size;
  }

  /** Returns the number of items after `number` by the last reply. */
  countAfter(number: number): number {
    return Math.max(0, (this.#tail.value ?? 0) - number - 1);
  }

  /**
   * Reads the beginning and the end of the queue. The tail is read first, so a change in between
   * never makes the queue look longer.
   */
  async readBounds(zk: ZooKeeper): Promise<QueueBounds> {
    const { paths } = this;
    let zxid = 0n;
    const first = zk.exists(paths.items, { onZxid: (seen) => (zxid = seen) });
    const [items, claims] = await Promise.all([first, zk.exists(paths.claims)]);
    this.#recordStats(items, claims);
    return { tail: this.#tail.value ?? 0, head: this.#head.value ?? 0, zxid };
  }

  /**
   * Returns the number of the next item. A known number may be too low, never too high. It is
   * refreshed in the background if it is old.
   */
  async getTailAfter(zk: ZooKeeper, number: number): Promise<number> {
    const tail = this.#tail.value;
    if (tail === undefined || tail <= number) return this.readTail(zk);
    if (performance.now() - this.#tailSeenAt > MAX_TAIL_AGE_MS) {
      this.#tailSeenAt = performance.now();
      // If this fails, the next call reads it again.
      this.readTail(zk).catch(() => (this.#tailSeenAt = -Infinity));
    }
    return tail;
  }

  async readTail(zk: ZooKeeper): Promise<number> {
    this.recordItems(await zk.exists(this.paths.items));
    return this.#tail.value ?? 0;
  }

  recordItems(items: ChildCounters | null): void {
    this.#tailSeenAt = performance.now();
    if (this.#tail.observeStat(items)) this.reset();
  }

  /**
   * Returns the bounds after a sync. The head is read first: if it has reached the tail, the queue
   * was empty at that moment.
   */
  async readSyncedBounds(zk: ZooKeeper): Promise<QueueBounds> {
    const { paths } = this;
    let zxid = 0n;
    const [, claims, items] = await Promise.all([
      zk.sync(paths.base),
      zk.exists(paths.claims, { onZxid: (seen) => (zxid = seen) }),
      zk.exists(paths.items),
    ]);
    this.#recordStats(items, claims);
    return {
      tail: computeNextNumber(items),
      head: computeNextNumber(claims),
      zxid,
    };
  }

  /** Notes whether a claim got the number that was predicted for it. */
  recordPrediction(isHit: boolean): void {
    this.#hitRate += LEARNING_RATE * (Number(isHit) - this.#hitRate);
    this.#isPredicting = this.#hitRate >= (this.#isPredicting ? MIN_HIT_RATE : RESUME_HIT_RATE);
  }

  /**
   * Returns the item to show for a dequeue that should get `number`. While predictions come true,
   * it is that very item, and the final view needs no further read. If many consumers take at once,
   * predictions mostly fail. Then the item at the tail, which is taken last, is shown instead
   * (§4.3: "peeking at the queue tail"). Either way an item is read once for each dequeue.
   */
  async readPreliminaryItem(
    zk: ZooKeeper,
    { number, tail }: { readonly number: number; readonly tail: number },
  ): Promise<Item | undefined> {
    if (this.#isPredicting) return this.readAhead(zk, number);
    if (this.#tailItem === undefined || this.#tailItem.number < number) {
      const { incarnation } = this;
      const standIn = await readItem(zk, this.paths, tail - 1);
      if (this.incarnation !== incarnation) return undefined;
      this.#tailItem = standIn;
    }
    return this.#tailItem;
  }

  recordPlaceholder(number: number): void {
    this.#lastPlaceholder = Math.max(this.#lastPlaceholder, number);
  }

  /**
   * Returns whether the items left after `number` include placeholders, which no consumer gets.
   * Placeholders come last, so the end of the queue is read.
   */
  async hasPlaceholders(
    zk: ZooKeeper,
    { number, tail }: { readonly number: number; readonly tail: number },
  ): Promise<boolean> {
    if (number <= this.#lastPlaceholder) return true;
    if (this.#lastCheckedNumber >= tail - 1) return false;
    const { incarnation } = this;
    const last = await readItem(zk, this.paths, tail - 1);
    if (last === undefined || this.incarnation !== incarnation) return true;
    this.#lastCheckedNumber = Math.max(this.#lastCheckedNumber, tail - 1);
    if (last.isPlaceholder) this.recordPlaceholder(tail - 1);
    return number <= this.#lastPlaceholder;
  }

  /**
   * Returns the item with a number, or `undefined` if there is none. Items never change, so one
   * that was read stays valid.
   */
  readAhead(zk: ZooKeeper, number: number): Promise<Item | undefined> {
    const known = this.#readAhead.get(number);
    if (known !== undefined) return known;
    const reading = readItem(zk, this.paths, number);
    this.#readAhead.set(number, reading);
    const forget = (): void => {
      if (this.#readAhead.get(number) === reading) this.#readAhead.delete(number);
    };
    reading.then((item) => item === undefined && forget(), forget);
    for (const oldest of this.#readAhead.keys()) {
      if (this.#readAhead.size <= MAX_READ_AHEAD_ITEMS) break;
      this.#readAhead.delete(oldest);
    }
    return reading;
  }

  /** Returns the item if it was read ahead, or is being read. */
  getReadAhead(number: number): Promise<Item | undefined> | undefined {
    return this.#readAhead.get(number);
  }

  /**
   * Returns whether an item certainly belongs to this queue and not to a former one. `zxid` is the
   * last transaction that the session has seen since.
   */
  isOfThisQueue({ czxid }: Item, zxid: bigint): boolean {
    this.#minZxid ??= zxid;
    return czxid >= this.#minZxid;
  }

  forgetItem(number: number): void {
    this.#readAhead.delete(number);
  }

  #addInFlight(inFlight: Set<InFlightWrite>): InFlightWrite {
    this.#order += 1;
    inFlight.add(this.#order);
    return this.#order;
  }

  #recordStats(items: ChildCounters | null, claims: ChildCounters | null): void {
    this.recordItems(items);
    if (this.#head.observeStat(claims)) this.reset();
  }
}

/** The updates are in the order in which they were begun. */
function countBefore(
  inFlight: ReadonlySet<InFlightWrite>,
  update: InFlightWrite | undefined,
): number {
  if (update === undefined) return inFlight.size;
  let count = 0;
  for (const item of inFlight) {
    if (item >= update) break;
    count += 1;
  }
  return count;
}
