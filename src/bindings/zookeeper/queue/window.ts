/** Lets so many in at a time, the others in the order in which they came. */

interface Waiter {
  readonly enter: () => void;
  readonly refuse: (error: unknown) => void;
}

export class Window {
  readonly #size: number;
  readonly #waiting: Waiter[] = [];
  #inside = 0;
  #refusal: { readonly error: unknown } | undefined;

  constructor(size: number) {
    this.#size = size;
  }

  /**
   * Resolves when there is room; at once, without a promise to wait for, if there is room now.
   *
   * @throws what `close` was given
   */
  enter(): Promise<void> | undefined {
    if (this.#refusal !== undefined) throw this.#refusal.error;
    if (this.#inside < this.#size) {
      this.#inside += 1;
      return undefined;
    }
    return new Promise((enter, refuse) => this.#waiting.push({ enter, refuse }));
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#inside -= 1;
    else next.enter();
  }

  /** From now on nobody enters, those who wait included. */
  close(error: unknown): void {
    this.#refusal = { error };
    for (const { refuse } of this.#waiting.splice(0)) refuse(error);
  }
}
