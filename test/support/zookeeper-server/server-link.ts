/**
 * One direction of a connection between two servers. Messages arrive in order, after a delay, or
 * when the test releases them.
 */
export class Line {
  delayMs = 0;
  readonly #waiting: { readonly arrive: () => void; readonly dueAt: number }[] = [];
  #isHeld = false;
  #timer: NodeJS.Timeout | undefined;

  send(arrive: () => void): void {
    this.#waiting.push({ arrive, dueAt: performance.now() + this.delayMs });
    this.#pump();
  }

  /** Holds all messages until `release`. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.#pump();
  }

  stop(): void {
    this.#waiting.length = 0;
    clearTimeout(this.#timer);
  }

  #pump(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (this.#isHeld || next === undefined) return;
      const leftMs = next.dueAt - performance.now();
      if (leftMs > 0) {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#pump(), leftMs);
        return;
      }
      this.#waiting.shift();
      next.arrive();
    }
  }
}
