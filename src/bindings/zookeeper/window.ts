/** Lets so many in at a time, the others in the order in which they came, and each place once in a turn. */
import { Places } from '../../correctable/pace/places.ts';
import type { Pace } from '../../correctable/pace/unseen.ts';

export class Window {
  readonly #places: Places;
  readonly #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(pace: Pace) {
    this.#places = new Places(pace);
  }

  /** Resolves when there is room; at once, without a promise to wait for, if there is room now. */
  enter(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#places.take(performance.now())) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#wake();
    });
  }

  /** @param enteredAtMs when there was room, by `performance.now()` */
  leave(enteredAtMs: number): void {
    this.#places.leave(enteredAtMs, performance.now());
    this.#admit();
  }

  #admit(): void {
    while (this.#waiting.length > 0 && this.#places.take(performance.now())) this.#waiting.shift()?.();
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
