/** How much a site keeps because its red log has halted. */
import { measurePlainData } from '../../../values/estimate-bytes.ts';
import { MAX_HALTED_BYTES } from '../../records/retention-limits.ts';

/**
 * Counts about how many bytes are kept because the red log has halted: what
 * waits for that, and what was written since. While it has halted no checkpoint
 * is made, so none of it can go.
 */
export class HaltedBytes {
  readonly max: number;
  #count = 0;
  /**
   * What the start has found after its checkpoint, since an earlier halt may
   * have kept it; 0 after the next checkpoint.
   */
  #found: number;

  constructor(foundEntries: unknown, max: number = MAX_HALTED_BYTES) {
    this.max = max;
    this.#found = measurePlainData(foundEntries);
  }

  get isFull(): boolean {
    return this.#count >= this.max;
  }

  /** The red log has halted, while this much waits for it. */
  begin(waitingBytes: number): void {
    this.#count += this.#found + waitingBytes;
  }

  addWritten(entries: readonly unknown[]): void {
    this.#count += measurePlainData(entries);
  }

  onCheckpointed(): void {
    this.#found = 0;
  }
}
