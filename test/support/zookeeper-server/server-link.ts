/** One direction between two servers: what is sent arrives in order, after a delay, or when the test lets it. */
export class Line {
  delayMs = 0;
  readonly #waiting: { readonly arrive: () => void; readonly dueAt: number }[] = [];
  #isHeld = false;
  #timer: NodeJS.Timeout | undefined;

  send(arrive: () => void): void {
    this.#waiting.push({ arrive, dueAt: performance.now() + this.delayMs });
    this.#pump();
  }

  /** From now on nothing arrives, until `release`. */
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
