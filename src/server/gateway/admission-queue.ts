/**
 * Submissions whose admission takes time: each waits until those before it have been decided, so that the operations of
 * a client begin in the order in which it submitted them.
 */

/** What to do with a submission once it is decided: it is allowed, or why it is not. */
export type Decided = (refusal: unknown) => void;

interface Waiting {
  readonly decided: Decided;
  isDecided: boolean;
  refusal: unknown;
}

/** The undecided submissions of one connection, in order. */
export class AdmissionQueue {
  readonly #waiting = new Map<number, Waiting>();
  readonly #onEmpty: () => void;

  /** @param onEmpty called when none waits any more */
  constructor(onEmpty: () => void) {
    this.#onEmpty = onEmpty;
  }

  get size(): number {
    return this.#waiting.size;
  }

  has(id: number): boolean {
    return this.#waiting.has(id);
  }

  /** Waits for `decision`, and for the turn of this submission; `decided` is called then, unless it was removed. */
  add(id: number, decision: PromiseLike<unknown>, decided: Decided): void {
    const waiting: Waiting = { decided, isDecided: false, refusal: undefined };
    this.#waiting.set(id, waiting);
    const decide = (refusal: unknown): void => {
      waiting.isDecided = true;
      waiting.refusal = refusal;
      this.#advance();
    };
    decision.then(() => decide(undefined), decide);
  }

  /** Returns whether it waited. */
  remove(id: number): boolean {
    const wasWaiting = this.#waiting.delete(id);
    if (wasWaiting) this.#advance();
    return wasWaiting;
  }

  clear(): void {
    this.#waiting.clear();
  }

  #advance(): void {
    for (const [id, { isDecided, refusal, decided }] of this.#waiting) {
      if (!isDecided) return;
      this.#waiting.delete(id);
      decided(refusal);
    }
    this.#onEmpty();
  }
}
