/** A map with a maximum number of entries. It keeps those that were set last. */
export class RecentMap<V> {
  readonly #maxEntries: number;
  readonly #entries = new Map<string, V>();

  constructor(max: number) {
    this.#maxEntries = max;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  /** @returns the value of the entry that was removed to make room, if there is one */
  set(key: string, value: V): V | undefined {
    this.#entries.delete(key); // move the entry to the end
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#maxEntries) return undefined;
    const [oldest] = this.#entries.keys();
    const gone = this.#entries.get(oldest as string);
    this.#entries.delete(oldest as string);
    return gone;
  }

  clear(): void {
    this.#entries.clear();
  }
}
