/** The numbers by which answers find their requests: reused only after the last answer. */

/** The protocol has 32 768; some are left for heartbeats and for statements to be prepared. */
export const STREAMS_MAX = 32_000;

export class StreamIds {
  readonly #most: number;
  #free: number[] = [];
  #next = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get inUse(): number {
    return this.#next - this.#free.length;
  }

  get hasRoom(): boolean {
    return this.inUse < this.#most;
  }

  take(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    this.#next += 1;
    return this.#next - 1;
  }

  release(id: number): void {
    this.#free.push(id);
  }
}
