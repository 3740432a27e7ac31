/**
 * Runs tasks one after the other. For example, two concurrent restarts would start a site twice.
 */
export class OneAtATime {
  #count = 0;
  #last: Promise<void> = Promise.resolve();

  get isBusy(): boolean {
    return this.#count > 0;
  }

  /** Runs a task after the earlier ones, even if they failed. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    this.#count += 1;
    const running = this.#last.then(task).finally(() => (this.#count -= 1));
    this.#last = running.then(
      () => {},
      () => {},
    );
    return running;
  }
}
