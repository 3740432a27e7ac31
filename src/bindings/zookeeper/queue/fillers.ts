/**
 * Ends claims that came before their items. Such a claim owes the queue one filler: with one from each late claim, every
 * claim has an item to end with, and none is too many, whoever else is late at the same time. What the dead owe is made
 * up for when nothing has moved for a while.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isBusy, isLost } from '../failures.ts';
import type { QueuePaths } from '../paths.ts';
import type { Sessions } from '../sessions.ts';
import { findItem } from './items.ts';

/** How long the fillers of others are waited for, and up to as long again. */
const PATIENCE_MS = 500;

interface Late {
  readonly number: number;
  /** Whether its filler has yet to be made. */
  isOwed: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class Fillers {
  readonly #sessions: Sessions;
  readonly #paths: QueuePaths;
  readonly #append: (bytes: Uint8Array) => Promise<number>;
  #late: Late[] = [];
  #isAtWork = false;

  /** @param append adds an item and gives its number */
  constructor(sessions: Sessions, paths: QueuePaths, append: (bytes: Uint8Array) => Promise<number>) {
    this.#sessions = sessions;
    this.#paths = paths;
    this.#append = append;
  }

  /** For a claim that is late: resolves when something has been made that has its number. */
  fill(number: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#late.push({ number, isOwed: true, resolve, reject });
      if (!this.#isAtWork) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isAtWork = true;
    try {
      while (this.#late.length > 0) await this.#step();
    } catch (error) {
      for (const { reject } of this.#late.splice(0)) reject(error);
    } finally {
      this.#isAtWork = false;
    }
  }

  async #step(): Promise<void> {
    const owed = this.#late.filter(({ isOwed }) => isOwed);
    if (owed.length > 0) {
      for (const each of owed) each.isOwed = false;
      return this.#settle(await this.#make(owed.length));
    }
    const before = await this.#tail();
    this.#settle(before);
    if (this.#late.length === 0) return;
    await pause(PATIENCE_MS * (1 + Math.random()));
    const after = await this.#tail();
    this.#settle(after);
    // Made anew meanwhile: who waits has to look again, and finds that its claim is gone.
    if (after < before) return this.#settle(Infinity);
    // Somebody is at it, or has become late meanwhile.
    if (after > before || this.#late.some(({ isOwed }) => isOwed)) return;
    const missing = this.#late.reduce((most, { number }) => Math.max(most, number + 1 - after), 0);
    if (missing > 0) this.#settle(await this.#make(missing));
  }

  /** Where the queue ends. */
  async #tail(): Promise<number> {
    const { number = 0 } = this.#late[0] ?? {};
    return (await this.#sessions.insist('writer', (zk) => findItem(zk, this.#paths, number))).tail;
  }

  /** Adds fillers and tells where the queue ends, as far as the answers tell. One that was lost does no harm. */
  async #make(count: number): Promise<number> {
    let tail = 0;
    const fillers = Array.from({ length: count }, () => this.#append(new Uint8Array(0)));
    for (const each of await Promise.allSettled(fillers)) {
      if (each.status === 'fulfilled') tail = Math.max(tail, each.value + 1);
      else if (!isLost(each.reason) && !isBusy(each.reason)) throw each.reason;
    }
    return tail;
  }

  #settle(tail: number): void {
    const ended = this.#late.filter(({ number }) => number < tail);
    this.#late = this.#late.filter(({ number }) => number >= tail);
    for (const { resolve } of ended) resolve();
  }
}
