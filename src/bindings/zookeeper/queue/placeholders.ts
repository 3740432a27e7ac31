/**
 * Ends claims without an item. A consumer adds one placeholder for each of its claims, and after a
 * wait also for claims of consumers that have ended.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isBusy, isConnectionLost } from '../errors.ts';
import type { QueuePaths } from '../paths.ts';
import type { SessionPair } from '../session-pair.ts';
import { findItem } from './items.ts';

/**
 * The minimum wait for placeholders of other consumers. A random time of up to the same length is
 * added.
 */
const WAIT_INTERVAL_MS = 500;

interface LateClaim {
  readonly number: number;
  /** Whether its placeholder has not been created yet. */
  isPlaceholderDue: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class Placeholders {
  readonly #sessions: SessionPair;
  readonly #paths: QueuePaths;
  readonly #append: (bytes: Uint8Array) => Promise<number>;
  #lateClaims: LateClaim[] = [];
  #isWorking = false;

  /** @param append adds an item and returns its number */
  constructor(
    sessions: SessionPair,
    paths: QueuePaths,
    append: (bytes: Uint8Array) => Promise<number>,
  ) {
    this.#sessions = sessions;
    this.#paths = paths;
    this.#append = append;
  }

  /**
   * Waits for the number of a claim that has no item: resolves when an item or placeholder with it
   * was created.
   */
  fillUpTo(number: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#lateClaims.push({
        number,
        isPlaceholderDue: true,
        resolve,
        reject,
      });
      if (!this.#isWorking) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    try {
      while (this.#lateClaims.length > 0) await this.#step();
    } catch (error) {
      for (const { reject } of this.#lateClaims.splice(0)) reject(error);
    } finally {
      this.#isWorking = false;
    }
  }

  async #step(): Promise<void> {
    const owed = this.#lateClaims.filter(({ isPlaceholderDue }) => isPlaceholderDue);
    if (owed.length > 0) {
      for (const item of owed) item.isPlaceholderDue = false;
      return this.#resolveUpTo(await this.#appendPlaceholders(owed.length));
    }
    const before = await this.#readTail();
    this.#resolveUpTo(before);
    if (this.#lateClaims.length === 0) return;
    await pause(WAIT_INTERVAL_MS * (1 + Math.random()));
    const after = await this.#readTail();
    this.#resolveUpTo(after);
    // The queue was recreated. Wake the waiting claims. They check again, and find that they do not
    // exist any more.
    if (after < before) return this.#resolveUpTo(Infinity);
    // Wait again if other consumers still add placeholders, or if another claim here lacks its item
    // meanwhile.
    if (after > before || this.#lateClaims.some(({ isPlaceholderDue }) => isPlaceholderDue)) return;
    const missing = this.#lateClaims.reduce(
      (most, { number }) => Math.max(most, number + 1 - after),
      0,
    );
    if (missing > 0) this.#resolveUpTo(await this.#appendPlaceholders(missing));
  }

  async #readTail(): Promise<number> {
    const { number = 0 } = this.#lateClaims[0] ?? {};
    return (await this.#sessions.retryBusy('writer', (zk) => findItem(zk, this.#paths, number)))
      .tail;
  }

  /**
   * Adds placeholders. Returns the end of the queue as far as the replies show it. A lost reply
   * does no harm.
   */
  async #appendPlaceholders(count: number): Promise<number> {
    let tail = 0;
    const fillers = Array.from({ length: count }, () => this.#append(new Uint8Array(0)));
    for (const item of await Promise.allSettled(fillers)) {
      if (item.status === 'fulfilled') tail = Math.max(tail, item.value + 1);
      else if (!isConnectionLost(item.reason) && !isBusy(item.reason)) throw item.reason;
    }
    return tail;
  }

  #resolveUpTo(tail: number): void {
    const ended = this.#lateClaims.filter(({ number }) => number < tail);
    this.#lateClaims = this.#lateClaims.filter(({ number }) => number >= tail);
    for (const { resolve } of ended) resolve();
  }
}
