/** A queue whose head moves instead of its items. */

/** So many dead places before the items move up. */
const DEAD_MAX = 1024;

export class Queue {
  #items: unknown[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  at(index: number): unknown {
    return this.#items[this.#head + index];
  }

  push(item: unknown): void {
    this.#items.push(item);
  }

  copy(): Queue {
    const queue = new Queue();
    queue.#items = this.#items.slice(this.#head);
    return queue;
  }

  shift(): void {
    this.#items[this.#head++] = undefined;
    if (this.#head < DEAD_MAX || this.#head * 2 < this.#items.length) return;
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}
