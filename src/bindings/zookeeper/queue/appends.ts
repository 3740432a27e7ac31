/**
 * Adds items at the end of one queue, in the order in which they were handed in. The queue is made on first use: until it
 * is known to be there one of them goes ahead, and the others wait for what becomes of it.
 */
import { isZooKeeperError, ZooKeeperError } from '../client/errors.ts';
import { notDoneError } from '../failures.ts';
import { numberOf, type QueuePaths } from '../paths.ts';
import type { Sessions } from '../sessions.ts';
import { createSequential } from './preliminaries.ts';

/** So many wait for the queue to be made; more are refused. */
const HELD_MAX = 10_000;

interface Append {
  readonly order: number;
  readonly bytes: Uint8Array;
  readonly onPreliminary: ((number: number) => void) | undefined;
  readonly resolve: (number: number) => void;
  readonly reject: (error: unknown) => void;
}

export class Appends {
  readonly #sessions: Sessions;
  readonly #paths: QueuePaths;
  /** `asking`: the first one is on its way. */
  #state: 'unknown' | 'asking' | 'there' | 'making' = 'unknown';
  #held: Append[] = [];
  #order = 0;

  constructor(sessions: Sessions, paths: QueuePaths) {
    this.#sessions = sessions;
    this.#paths = paths;
  }

  /** Adds an item and gives its number; `onPreliminary` hears of it before, from a server that says so. */
  add(bytes: Uint8Array, onPreliminary?: (number: number) => void): Promise<number> {
    return new Promise((resolve, reject) => {
      const append: Append = { order: this.#order++, bytes, onPreliminary, resolve, reject };
      if (this.#state === 'unknown') void this.#ask(append);
      else if (this.#state === 'there') void this.#send(append);
      else if (this.#held.length < HELD_MAX) this.#held.push(append);
      else reject(new ZooKeeperError('TOO_MANY_REQUESTS', { path: this.#paths.items }));
    });
  }

  /** Makes the nodes of the queue. */
  async make(): Promise<void> {
    // Whoever finds a place for items finds one for claims.
    await this.#sessions.makePath(this.#paths.claims);
    await this.#sessions.makePath(this.#paths.items);
  }

  async #ask(first: Append): Promise<void> {
    this.#state = 'asking';
    await this.#send(first);
    if (this.#state === 'asking') this.#goOn();
  }

  async #send(append: Append): Promise<void> {
    const { bytes: data, onPreliminary, resolve, reject } = append;
    try {
      resolve(numberOf(await createSequential(this.#sessions, `${this.#paths.items}/-`, { data, onPreliminary })));
    } catch (error) {
      if (!isZooKeeperError(error, 'NO_NODE')) return reject(error);
      this.#held.push(append);
      if (this.#state !== 'making') void this.#makeAndGoOn();
    }
  }

  /** All that were sent before come back meanwhile: answers come in the order of the requests. */
  async #makeAndGoOn(): Promise<void> {
    this.#state = 'making';
    try {
      await this.make();
      this.#goOn();
    } catch (error) {
      this.#state = 'unknown';
      for (const { reject } of this.#held.splice(0)) reject(notDoneError(error));
    }
  }

  #goOn(): void {
    this.#state = 'there';
    for (const append of this.#held.splice(0).sort((a, b) => a.order - b.order)) void this.#send(append);
  }
}
