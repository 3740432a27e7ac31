/** About how much a site keeps because its red log has halted: what waits for that, and what was written since. */
export class HaltedBytes {
  readonly maxBytes: number;
  #bytes = 0;
  #foundBytes: number;

  /** @param foundBytes what the start has found after its checkpoint: an earlier halt may have kept it */
  constructor(maxBytes: number, foundBytes: number) {
    this.maxBytes = maxBytes;
    this.#foundBytes = foundBytes;
  }

  get isFull(): boolean {
    return this.#bytes >= this.maxBytes;
  }

  /** 0 after the next checkpoint. */
  get foundBytes(): number {
    return this.#foundBytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  onCheckpointed(): void {
    this.#foundBytes = 0;
  }
}
