/** A first-in first-out list at a constant cost an operation, however long it is. */

const COMPACT_AT = 1024;

/** A list that grows at its end and shrinks at its front. */
export class Fifo<T> {
  #items: (T | undefined)[];
  #head = 0;

  constructor(items: Iterable<T> = []) {
    this.#items = [...items];
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  /** The element at `index`, counted from the front; `undefined` outside. */
  at(index: number): T | undefined {
    return index < 0 ? undefined : this.#items[this.#head + index];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Takes the first element; `undefined` when there is none. */
  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head >= COMPACT_AT && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** The elements from `start` to before `end`, as an array. */
  slice(start = 0, end: number = this.size): T[] {
    return this.#items.slice(this.#head + start, this.#head + end) as T[];
  }
}
