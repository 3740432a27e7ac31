/**
 * Submissions whose admission takes time: each waits until those before it have been decided, so that the operations of
 * a client begin in the order in which it submitted them.
 */
import type { LoadPlace } from '../limits/load.ts';

/** What to do with a submission once it is decided: it is allowed, or why it is not. */
export type Decided = (refusal: unknown) => void;

interface Waiting {
  /** Its own until it is decided, even where it does not wait any more: whoever decides is busy with it. */
  readonly place: LoadPlace;
  /** None where it does not wait any more. */
  decided: Decided | undefined;
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
    return this.#waiting.size > 0 && this.#waiting.has(id);
  }

  /** Waits for `decision`, and for the turn of this submission; `decided` is called then, unless it was removed. */
  add(id: number, decision: PromiseLike<unknown>, place: LoadPlace, decided: Decided): void {
    const waiting: Waiting = { place, decided, isDecided: false, refusal: undefined };
    this.#waiting.set(id, waiting);
    const decide = (refusal: unknown): void => {
      waiting.isDecided = true;
      waiting.refusal = refusal;
      if (waiting.decided === undefined) place.leave();
      else this.#advance();
    };
    decision.then(() => decide(undefined), decide);
  }

  /** It does not wait any more: nobody is told, and those behind it may have their turn. */
  remove(id: number): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    dismiss(waiting);
    this.#advance();
  }

  clear(): void {
    this.#waiting.forEach(dismiss);
    this.#waiting.clear();
  }

  #advance(): void {
    for (const [id, { isDecided, refusal, decided }] of this.#waiting) {
      if (!isDecided) return;
      this.#waiting.delete(id);
      decided?.(refusal);
    }
    this.#onEmpty();
  }
}

function dismiss(waiting: Waiting): void {
  waiting.decided = undefined;
  if (waiting.isDecided) waiting.place.leave();
}
