/**
 * Tracks what a session has seen of growing values. One writer counts up, and writes each number to
 * the next of several keys. So a session that has seen a number must see at least the latest number
 * up to it at every key.
 */
export class SessionFloor {
  readonly #keyCount: number;
  #seen = -1;
  #own = -1;

  constructor(keyCount: number) {
    this.#keyCount = keyCount;
  }

  /** Returns the least number that a view of the key may show; -1 if the key may be missing. */
  getLeast(key: number): number {
    if (this.#seen < 0) return -1;
    const least = this.#seen - ((this.#seen - key + this.#keyCount) % this.#keyCount);
    return Math.max(-1, least);
  }

  /** Notes a view of a key. Returns whether the session has gone back. */
  see(key: number, value: number | undefined): boolean {
    const shown = value ?? -1;
    const isBack = shown < this.getLeast(key);
    this.#seen = Math.max(this.#seen, shown);
    return isBack;
  }

  /** Notes a write of the session to a key of its own. */
  write(value: number): void {
    this.#own = value;
  }

  /** Notes a view of the session's own key. Returns whether it lacks the session's last write. */
  seeOwn(value: number | undefined): boolean {
    return (value ?? -1) < this.#own;
  }
}
