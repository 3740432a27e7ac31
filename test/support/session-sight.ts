/**
 * What a session has written or seen of keys whose values count up. No view of a read may be older
 * than what it knew of the key when the read began, nor than an earlier view of the same read.
 */
export class SessionSight {
  readonly #newest = new Map<string, number>();

  /** Notes a write that has its final view. */
  write(key: string, value: number): void {
    this.#newest.set(key, Math.max(value, this.#newest.get(key) ?? 0));
  }

  /**
   * Begins a read. The function that it returns notes a view. If the view is too old, it returns
   * what the view had to show at least.
   */
  beginRead(key: string): (value: number) => number | undefined {
    let least = this.#newest.get(key) ?? 0;
    return (value) => {
      this.write(key, value);
      if (value < least) return least;
      least = value;
      return undefined;
    };
  }
}
