/**
 * Adds items in order. The first item creates the queue if necessary, and the others wait for it.
 */
import { isZooKeeperError, ZooKeeperError } from '../client/errors.ts';
import { toNotAppliedError } from '../errors.ts';
import { parseSequenceNumber, type QueuePaths } from '../paths.ts';
import type { SessionPair } from '../session-pair.ts';

const MAX_WAITING_APPENDS = 10_000;

interface PendingAppend {
  readonly order: number;
  readonly bytes: Uint8Array;
  readonly onPreliminary: ((number: number) => void) | undefined;
  readonly resolve: (number: number) => void;
  readonly reject: (error: unknown) => void;
}

export class ItemAppender {
  readonly #sessions: SessionPair;
  readonly #paths: QueuePaths;
  /** `probing` means that the first item is in flight. */
  #state: 'unknown' | 'probing' | 'exists' | 'creating' = 'unknown';
  #waiting: PendingAppend[] = [];
  #order = 0;

  constructor(sessions: SessionPair, paths: QueuePaths) {
    this.#sessions = sessions;
    this.#paths = paths;
  }

  /**
   * Adds an item and returns its number. Calls `onPreliminary` before, if the server predicts the
   * number.
   */
  add(bytes: Uint8Array, onPreliminary?: (number: number) => void): Promise<number> {
    return new Promise((resolve, reject) => {
      const append: PendingAppend = {
        order: this.#order++,
        bytes,
        onPreliminary,
        resolve,
        reject,
      };
      if (this.#state === 'unknown') void this.#sendFirst(append);
      else if (this.#state === 'exists') void this.#send(append);
      else if (this.#waiting.length < MAX_WAITING_APPENDS) this.#waiting.push(append);
      else reject(new ZooKeeperError('TOO_MANY_REQUESTS', { path: this.#paths.items }));
    });
  }

  async createNodes(): Promise<void> {
    // A queue with a node for items must also have one for claims.
    await this.#sessions.createPath(this.#paths.claims);
    await this.#sessions.createPath(this.#paths.items);
  }

  async #sendFirst(first: PendingAppend): Promise<void> {
    this.#state = 'probing';
    await this.#send(first);
    if (this.#state === 'probing') this.#resume();
  }

  async #send(append: PendingAppend): Promise<void> {
    const { bytes, onPreliminary, resolve, reject } = append;
    try {
      const path = await this.#sessions.createSequential(
        `${this.#paths.items}/-`,
        bytes,
        onPreliminary,
      );
      resolve(parseSequenceNumber(path));
    } catch (error) {
      if (!isZooKeeperError(error, 'NO_NODE')) return reject(error);
      this.#waiting.push(append);
      if (this.#state !== 'creating') void this.#createNodesAndResume();
    }
  }

  /**
   * All items that were sent before have failed by then, because replies come in the order of the
   * requests.
   */
  async #createNodesAndResume(): Promise<void> {
    this.#state = 'creating';
    try {
      await this.createNodes();
      this.#resume();
    } catch (error) {
      this.#state = 'unknown';
      for (const { reject } of this.#waiting.splice(0)) reject(toNotAppliedError(error));
    }
  }

  #resume(): void {
    this.#state = 'exists';
    for (const append of this.#waiting.splice(0).sort((a, b) => a.order - b.order))
      void this.#send(append);
  }
}
