/**
 * Removes delivered items together with their claims, several at a time, and retries until it has
 * succeeded.
 */
import { replaceErrorWith, isZooKeeperError } from '../client/errors.ts';
import type { MultiPart } from '../client/multi.ts';
import type { Claim } from './claim-creator.ts';
import { isConnectionLost } from '../errors.ts';
import type { QueuePaths } from '../paths.ts';
import { waitUntilSettled } from '../wait-until-settled.ts';
import type { SessionPair } from '../session-pair.ts';

const MAX_BATCH_SIZE = 16;
const BATCH_DELAY_MS = 10;
/** The index of the part that removes the item. */
const ITEM_PART_INDEX = 1;
const FLUSH_TIMEOUT_MS = 2_000;

export class ClaimCleanup {
  readonly #sessions: SessionPair;
  readonly #paths: QueuePaths;
  readonly #onError: (error: unknown) => void;
  #waiting: Claim[] = [];
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #inFlight = new Set<Promise<void>>();

  constructor(sessions: SessionPair, paths: QueuePaths, onError: (error: unknown) => void) {
    this.#sessions = sessions;
    this.#paths = paths;
    this.#onError = onError;
  }

  /**
   * After `flush` no claim is added any more, because it is unknown whether its item was delivered.
   */
  add(claim: Claim): void {
    if (this.#isClosed) return;
    this.#waiting.push(claim);
    if (this.#waiting.length >= MAX_BATCH_SIZE) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), BATCH_DELAY_MS);
  }

  /**
   * Resolves when everything is removed, or after a time limit. The orphan recovery of another
   * binding removes the rest.
   */
  async flush(): Promise<void> {
    this.#isClosed = true;
    if (this.#waiting.length > 0) this.#send();
    await waitUntilSettled(FLUSH_TIMEOUT_MS, this.#inFlight);
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#waiting;
    this.#waiting = [];
    const work = this.#remove(batch)
      .catch((error: unknown) => {
        if (!(isConnectionLost(error) || isZooKeeperError(error, 'CLIENT_CLOSED')))
          this.#onError(error);
      })
      .finally(() => this.#inFlight.delete(work));
    this.#inFlight.add(work);
  }

  async #remove(batch: readonly Claim[]): Promise<void> {
    try {
      await this.#sessions.retryBusy('writer', (zk) =>
        zk.multi(batch.flatMap((claim) => this.#getParts(claim))),
      );
    } catch (error) {
      if (!isZooKeeperError(error, 'NO_NODE')) throw error;
      // One of the nodes does not exist any more: an attempt whose reply was lost, or the orphan
      // recovery of another binding, has removed it. So remove each item separately.
      if (batch.length > 1) await Promise.all(batch.map((claim) => this.#remove([claim])));
      else if (error.part === ITEM_PART_INDEX) await this.#removeClaim(batch[0] as Claim);
    }
  }

  /**
   * Removes a claim whose item does not exist any more. An item with this number may belong to a
   * recreated queue, so it stays.
   */
  async #removeClaim({ name }: Claim): Promise<void> {
    const removing = this.#sessions.retryBusy('writer', (zk) => zk.delete(this.#paths.claim(name)));
    await removing.catch(replaceErrorWith('NO_NODE', undefined));
  }

  #getParts({ number, name }: Claim): MultiPart[] {
    return [
      { type: 'delete', path: this.#paths.claim(name) },
      { type: 'delete', path: this.#paths.item(number) },
    ];
  }
}
