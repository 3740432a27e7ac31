/** A binary heap: the items with the lowest keys come first. */

export class MinHeap<T> {
  readonly #entries: (readonly [key: number, item: T])[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** The lowest key; `undefined` if the heap is empty. */
  get firstKey(): number | undefined {
    return this.#entries[0]?.[0];
  }

  /** The item with the lowest key; `undefined` if the heap is empty. */
  get first(): T | undefined {
    return this.#entries[0]?.[1];
  }

  push(key: number, item: T): void {
    const entries = this.#entries;
    let at = entries.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = entries[above] as readonly [number, T];
      if (parent[0] <= key) break;
      entries[at] = parent;
      at = above;
    }
    entries[at] = [key, item];
  }

  /** Takes the item with the lowest key; `undefined` if there is none. */
  shift(): T | undefined {
    const entries = this.#entries;
    const first = entries[0];
    const last = entries.pop();
    if (first === undefined || last === undefined) return undefined;
    if (entries.length > 0) this.#sink(last);
    return first[1];
  }

  /** Puts an entry into the free place at the top. */
  #sink(entry: readonly [key: number, item: T]): void {
    const entries = this.#entries;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      const left = entries[below];
      if (left === undefined) break;
      const right = entries[below + 1];
      const isRight = right !== undefined && right[0] < left[0];
      if (isRight) below += 1;
      const lower = isRight ? right : left;
      if (lower[0] >= entry[0]) break;
      entries[at] = lower;
      at = below;
    }
    entries[at] = entry;
  }
}
