/** Lets so many in at a time, the others in the order in which they came, and each place once in a turn. */
import { Places } from '../../../correctable/pace/places.ts';
import type { Pace } from '../../../correctable/pace/unseen.ts';

interface Waiter {
  readonly enter: () => void;
  readonly refuse: (error: unknown) => void;
}

export class Window {
  readonly #places: Places;
  readonly #waiting: Waiter[] = [];
  #timer: NodeJS.Timeout | undefined;
  #refusal: { readonly error: unknown } | undefined;

  constructor(pace: Pace) {
    this.#places = new Places(pace);
  }

  /**
   * Resolves when there is room; at once, without a promise to wait for, if there is room now.
   *
   * @throws what `close` was given
   */
  enter(): Promise<void> | undefined {
    if (this.#refusal !== undefined) throw this.#refusal.error;
    if (this.#waiting.length === 0 && this.#places.take(performance.now())) return undefined;
    return new Promise((enter, refuse) => {
      this.#waiting.push({ enter, refuse });
      this.#wake();
    });
  }

  /** @param enteredAtMs when there was room, by `performance.now()` */
  leave(enteredAtMs: number): void {
    this.#places.leave(enteredAtMs, performance.now());
    this.#admit();
  }

  /** From now on nobody enters, those who wait included. */
  close(error: unknown): void {
    this.#refusal = { error };
    clearTimeout(this.#timer);
    for (const { refuse } of this.#waiting.splice(0)) refuse(error);
  }

  #admit(): void {
    while (this.#waiting.length > 0 && this.#places.take(performance.now())) this.#waiting.shift()?.enter();
    this.#wake();
  }

  /** Admits again when the next place has rested, if somebody waits for it. */
  #wake(): void {
    const { nextFreeAtMs } = this.#places;
    if (this.#waiting.length === 0 || nextFreeAtMs === undefined || this.#timer !== undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#admit();
      },
      Math.ceil(Math.max(0, nextFreeAtMs - performance.now())),
    );
  }
}
