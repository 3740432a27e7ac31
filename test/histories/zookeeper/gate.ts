/** Keeps everybody out for a while, and waits until those inside have left. */
export class Gate {
  #inside = 0;
  #isOpen = true;
  readonly #onOpen: (() => void)[] = [];
  readonly #onEmpty: (() => void)[] = [];

  async pass(work: () => Promise<unknown>): Promise<void> {
    while (!this.#isOpen) await new Promise<void>((resolve) => this.#onOpen.push(resolve));
    this.#inside += 1;
    try {
      await work();
    } finally {
      this.#inside -= 1;
      if (this.#inside === 0) for (const resolve of this.#onEmpty.splice(0)) resolve();
    }
  }

  /** Resolves when no user is inside. */
  async shut(): Promise<void> {
    this.#isOpen = false;
    while (this.#inside > 0) await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
  }

  open(): void {
    this.#isOpen = true;
    for (const resolve of this.#onOpen.splice(0)) resolve();
  }
}
