/**
 * Holds submissions that wait for `authorize`. The operations of a client begin in the order in
 * which the client submitted them.
 */
import type { LoadSlot } from '../limits/in-flight-load.ts';

/**
 * Called when a submission is decided: with `undefined` if it is allowed, otherwise with the reason
 * of the refusal.
 */
export type OnDecided = (rejection: unknown) => void;

interface WaitingSubmission {
  /**
   * Held until the decision, even if the client has canceled the submission: the `authorize` hook
   * is still running for it.
   */
  readonly slot: LoadSlot;
  /** `undefined` if the submission does not wait any more. */
  onDecided: OnDecided | undefined;
  isDecided: boolean;
  rejection: unknown;
}

export class AdmissionQueue {
  readonly #waiting = new Map<number, WaitingSubmission>();
  readonly #onEmpty: () => void;

  /** @param onEmpty called when no submission waits any more */
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
   * Waits for `decision` and for the turn of this submission, then calls `onDecided` unless the
   * submission was removed.
   */
  add(id: number, decision: PromiseLike<unknown>, slot: LoadSlot, onDecided: OnDecided): void {
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

  /** Removes a submission. Nothing is reported for it, and later ones may have their turn. */
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
