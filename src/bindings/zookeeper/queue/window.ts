/** Lets so many in at a time, the others in the order in which they came. */
export class Window {
  readonly #size: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Resolves when there is room; at once, without a promise to wait for, if there is room now. */
  enter(): Promise<void> | undefined {
    if (this.#inside < this.#size) {
      this.#inside += 1;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#inside -= 1;
    else next();
  }
}
