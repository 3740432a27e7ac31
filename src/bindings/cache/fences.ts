/**
 * Remembers when an update last touched an object, so that a read that began before it does not bring the old value
 * back into the cache.
 */
export class Fences {
  readonly #entriesMax: number;
  readonly #byKey = new Map<string, number>();
  /** Every object counts as touched at this time: by an update that named none, or because its fence was forgotten. */
  #floor = 0;
  #latest = 0;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  /** An update that touched these objects, or may have touched any, ended at `order`. */
  raise(touches: readonly string[] | undefined, order: number): void {
    this.#latest = order;
    if (touches === undefined) {
      this.#byKey.clear();
      this.#floor = order;
      return;
    }
    for (const key of touches) {
      this.#byKey.delete(key);
      this.#byKey.set(key, order);
    }
    this.#forgetOldest();
  }

  /** Whether an update touched one of these objects, or may have, after `order`. */
  isAfter(touches: readonly string[] | undefined, order: number): boolean {
    if (touches === undefined) return this.#latest > order;
    return this.#floor > order || touches.some((key) => (this.#byKey.get(key) ?? 0) > order);
  }

  #forgetOldest(): void {
    for (const [key, order] of this.#byKey) {
      if (this.#byKey.size <= this.#entriesMax) return;
      this.#byKey.delete(key);
      this.#floor = Math.max(this.#floor, order);
    }
  }
}
