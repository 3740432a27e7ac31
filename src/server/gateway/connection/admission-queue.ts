/**
 * Submissions that wait for `authorize`. Operations of a client begin in the
 * order in which it submitted them.
 */
import type { LoadSlot } from '../limits/in-flight-load.ts';

/**
 * What to do with a submission once it is decided: it is allowed, or why it is
 * not.
 */
export type OnDecided = (rejection: unknown) => void;

interface WaitingSubmission {
  /**
   * Its own until it is decided, even if it does not wait any more: the hook is
   * busy with it.
   */
  readonly slot: LoadSlot;
  /** None where it does not wait any more. */
  onDecided: OnDecided | undefined;
  isDecided: boolean;
  rejection: unknown;
}

export class AdmissionQueue {
  readonly #waiting = new Map<number, WaitingSubmission>();
  readonly #onEmpty: () => void;

  /** @param onEmpty called when none waits any more */
  constructor(onEmpty: () => void) {
    this.#onEmpty = onEmpty;
  }

  get size(): number {
    return this.#waiting.size;
  }

  has(id: number): boolean {
    return this.#waiting.size > 0 && this.#waiting.has(id);
  }

  /**
   * Waits for `decision`, and for the turn of this submission; `decided` is
   * called then, unless it was removed.
   */
  add(
    id: number,
    decision: PromiseLike<unknown>,
    slot: LoadSlot,
    onDecided: OnDecided,
  ): void {
    const waiting: WaitingSubmission = {
      slot,
      onDecided,
      isDecided: false,
      rejection: undefined,
    };
    this.#waiting.set(id, waiting);
    const decide = (rejection: unknown): void => {
      waiting.isDecided = true;
      waiting.rejection = rejection;
      if (waiting.onDecided === undefined) slot.release();
      else this.#advance();
    };
    decision.then(() => decide(undefined), decide);
  }

  /**
   * It does not wait any more: nothing is reported, and those behind it may
   * have their turn.
   */
  remove(id: number): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    notifyDecided(waiting);
    this.#advance();
  }

  clear(): void {
    this.#waiting.forEach(notifyDecided);
    this.#waiting.clear();
  }

  #advance(): void {
    for (const [id, { isDecided, rejection, onDecided }] of this.#waiting) {
      if (!isDecided) return;
      this.#waiting.delete(id);
      onDecided?.(rejection);
    }
    this.#onEmpty();
  }
}

function notifyDecided(waiting: WaitingSubmission): void {
  waiting.onDecided = undefined;
  if (waiting.isDecided) waiting.slot.release();
}
