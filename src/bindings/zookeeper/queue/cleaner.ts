/** Removes delivered items with their claims: several at a time, again and again until it is done. */
import { insteadOf, isZooKeeperError } from '../client/errors.ts';
import type { MultiPart } from '../client/multi.ts';
import type { Claim } from './claims.ts';
import { isLost } from '../failures.ts';
import type { QueuePaths } from '../paths.ts';
import { settledWithin } from '../settled-within.ts';
import type { Sessions } from '../sessions.ts';

const BATCH_MAX = 16;
/** How long a pair waits for others. */
const DELAY_MS = 10;
/** Which of the two parts is the item's. */
const ITEM_PART = 1;
/** At the end of the binding. */
const FLUSH_MS = 2_000;

export class Cleaner {
  readonly #sessions: Sessions;
  readonly #paths: QueuePaths;
  readonly #onError: (error: unknown) => void;
  #waiting: Claim[] = [];
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #underWay = new Set<Promise<void>>();

  constructor(sessions: Sessions, paths: QueuePaths, onError: (error: unknown) => void) {
    this.#sessions = sessions;
    this.#paths = paths;
    this.#onError = onError;
  }

  /** After `flush` nothing is removed any more: nobody knows whether it was delivered. */
  add(claim: Claim): void {
    if (this.#isClosed) return;
    this.#waiting.push(claim);
    if (this.#waiting.length >= BATCH_MAX) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), DELAY_MS);
  }

  /** Resolves when all is removed, or after a time: what is left is found by a janitor. */
  async flush(): Promise<void> {
    this.#isClosed = true;
    if (this.#waiting.length > 0) this.#send();
    await settledWithin(FLUSH_MS, this.#underWay);
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#waiting;
    this.#waiting = [];
    const work = this.#remove(batch)
      .catch((error: unknown) => {
        if (!(isLost(error) || isZooKeeperError(error, 'CLIENT_CLOSED'))) this.#onError(error);
      })
      .finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  async #remove(batch: readonly Claim[]): Promise<void> {
    try {
      await this.#sessions.insist('writer', (zk) => zk.multi(batch.flatMap((claim) => this.#partsOf(claim))));
    } catch (error) {
      if (!isZooKeeperError(error, 'NO_NODE')) throw error;
      // One of them is gone: removed by an attempt whose answer was lost, or by a janitor. Each by itself, then.
      if (batch.length > 1) await Promise.all(batch.map((claim) => this.#remove([claim])));
      else if (error.part === ITEM_PART) await this.#removeClaim(batch[0] as Claim);
    }
  }

  /**
   * Of a claim without an item. Without the claim nothing is removed: with it went the item, and one of this number may be
   * that of a queue made anew.
   */
  async #removeClaim({ name }: Claim): Promise<void> {
    const removing = this.#sessions.insist('writer', (zk) => zk.delete(this.#paths.claim(name)));
    await removing.catch(insteadOf('NO_NODE', undefined));
  }

  #partsOf({ number, name }: Claim): MultiPart[] {
    return [
      { type: 'delete', path: this.#paths.claim(name) },
      { type: 'delete', path: this.#paths.item(number) },
    ];
  }
}
