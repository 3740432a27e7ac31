/**
 * A first-in first-out list whose operations have a constant cost.
 *
 * It is a ring buffer in one array, so a list whose length changes little allocates nothing. New
 * arrays would be worse: objects that a discarded old array references survive until the next full
 * garbage collection.
 */

const MIN_LENGTH = 4;
const MIN_FILTER_SIZE = 64;
/** Arrays up to this length are not replaced by shorter ones when the list has become short. */
const MIN_SHRINK_LENGTH = 1024;

/** A list that grows at its end and shrinks at its front. */
export class Fifo<T> {
  /** Its length is a power of two. Indexes are taken modulo that. */
  #items: (T | undefined)[] = [];
  #head = 0;
  #size = 0;
  /** The number of elements from which `filter` checks them again. */
  #filterFrom = MIN_FILTER_SIZE;

  constructor(items: Iterable<T> = []) {
    for (const item of items) this.push(item);
  }

  get size(): number {
    return this.#size;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** The element at the front; `undefined` if there is none. */
  get first(): T | undefined {
    return this.#items[this.#head];
  }

  /** The element at `index`, counted from the front; `undefined` outside. */
  at(index: number): T | undefined {
    if (index < 0 || index >= this.#size) return undefined;
    return this.#items[(this.#head + index) & (this.#items.length - 1)];
  }

  /** The element at the end; `undefined` if there is none. */
  get last(): T | undefined {
    return this.#items[(this.#head + this.#size - 1) & (this.#items.length - 1)];
  }

  push(item: T): void {
    if (this.#size === this.#items.length) this.#resize(Math.max(MIN_LENGTH, 2 * this.#size));
    // The index is computed here and in `at` without a helper function, because these run many
    // times for each operation.
    this.#items[(this.#head + this.#size) & (this.#items.length - 1)] = item;
    this.#size += 1;
  }

  /**
   * Inserts an element before the one at `index`. The cost grows with the number of elements behind
   * it.
   */
  insert(index: number, item: T): void {
    this.push(item);
    for (let later = this.#size - 1; later > index; later -= 1) {
      this.#items[this.#toIndex(later)] = this.#items[this.#toIndex(later - 1)];
    }
    this.#items[this.#toIndex(index)] = item;
  }

  /** Takes the first element; `undefined` when there is none. */
  shift(): T | undefined {
    if (this.#size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head = this.#toIndex(1);
    this.#size -= 1;
    if (this.#items.length > MIN_SHRINK_LENGTH && this.#size * 4 < this.#items.length)
      this.#resize(this.#items.length / 2);
    return item;
  }

  /**
   * Drops the elements that are not wanted. It looks at them only when the list has doubled since
   * the last time, so that calling it often costs little.
   */
  filter(isWanted: (item: T) => boolean): void {
    if (this.#size < this.#filterFrom) return;
    for (let left = this.#size; left > 0; left -= 1) {
      const item = this.shift() as T;
      if (isWanted(item)) this.push(item);
    }
    this.#filterFrom = Math.max(MIN_FILTER_SIZE, 2 * this.#size);
  }

  /** The elements from `start` to before `end`, as an array. */
  slice(start = 0, end: number = this.#size): T[] {
    const taken: T[] = [];
    for (let index = Math.max(0, start); index < Math.min(end, this.#size); index += 1)
      taken.push(this.at(index) as T);
    return taken;
  }

  /**
   * Finds the first element for which `holds` is true, by binary search. All elements after it must
   * hold too. Returns the size if there is none.
   */
  findIndex(holds: (item: T) => boolean): number {
    let low = 0;
    for (let high = this.#size; low < high;) {
      const middle = (low + high) >> 1;
      if (holds(this.at(middle) as T)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #toIndex(index: number): number {
    return (this.#head + index) & (this.#items.length - 1);
  }

  #resize(length: number): void {
    const items = this.slice() as (T | undefined)[];
    while (items.length < length) items.push(undefined);
    this.#items = items;
    this.#head = 0;
  }
}

/**
 * Runs items one after the other. An item that is added while another one runs is run after it, so
 * the call stack does not grow.
 */
export class RunQueue<T> {
  readonly #ready = new Fifo<T>();
  readonly #run: (item: T) => void;
  #isRunning = false;

  constructor(run: (item: T) => void) {
    this.#run = run;
  }

  /** Runs the item now, or after the items that are running or waiting. */
  add(item: T): void {
    this.#ready.push(item);
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let next = this.#ready.shift(); next !== undefined; next = this.#ready.shift())
        this.#run(next);
    } finally {
      this.#isRunning = false;
    }
  }
}
