/** How much a site keeps because one of its red logs has halted. */
import { measurePlainData } from '../../../values/estimate-bytes.ts';
import { MAX_HALTED_BYTES } from '../../service/records/retention-limits.ts';

/**
 * Counts the approximate bytes that are kept because the red log has halted: operations that wait
 * for it, and entries that were written since. No checkpoint is made after a halt, so none of them
 * can be removed.
 */
export class HaltedBytes {
  readonly max: number;
  #count = 0;
  /** The first red log has halted, and more is kept from now on. */
  hasBegun = false;
  /**
   * The bytes that the start has found behind its checkpoint, since an earlier halt may have kept
   * them. It is 0 after the next checkpoint.
   */
  #found: number;

  constructor(foundEntries: unknown, max: number = MAX_HALTED_BYTES) {
    this.max = max;
    this.#found = measurePlainData(foundEntries);
  }

  get isFull(): boolean {
    return this.#count >= this.max;
  }

  /** A red log has halted, while operations of this size wait. */
  begin(waitingBytes: number): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.#count += this.#found + waitingBytes;
  }

  addWritten(entries: readonly unknown[]): void {
    this.#count += measurePlainData(entries);
  }

  onCheckpointed(): void {
    this.#found = 0;
  }
}
