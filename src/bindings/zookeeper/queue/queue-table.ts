/**
 * How many old names are checked for each new one. It is more than one, so that the number of
 * removable names decreases.
 */
const CHECKS_PER_INSERT = 2;

/**
 * The queues by name. A queue that was only read may be removed (`isForgettable`). One with state
 * stays.
 */
export class QueueTable<T extends { readonly isForgettable: boolean }> {
  readonly #createQueue: (name: string) => T;
  readonly #queues = new Map<string, { readonly queue: T; users: number }>();

  constructor(make: (name: string) => T) {
    this.#createQueue = make;
  }

  get all(): readonly T[] {
    return [...this.#queues.values()].map(({ queue }) => queue);
  }

  /**
   * Runs `work` on a queue. Meanwhile the queue stays in the table, so that all callers get the
   * same object.
   */
  async use<R>(name: string, work: (queue: T) => Promise<R>): Promise<R> {
    let entry = this.#queues.get(name);
    if (entry === undefined) {
      this.#removeForgettable();
      entry = { queue: this.#createQueue(name), users: 0 };
      this.#queues.set(name, entry);
    }
    entry.users += 1;
    try {
      return await work(entry.queue);
    } finally {
      entry.users -= 1;
    }
  }

  #removeForgettable(): void {
    let looked = 0;
    for (const [name, entry] of this.#queues) {
      if (looked === CHECKS_PER_INSERT) return;
      looked += 1;
      this.#queues.delete(name);
      // Move the entry to the end, so that it is checked again after all others.
      if (entry.users > 0 || !entry.queue.isForgettable) this.#queues.set(name, entry);
    }
  }
}
