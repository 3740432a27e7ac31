/** What a session has seen of the primary's order: a view of an older state would break its guarantees. */
import type { BindingSession } from '../../correctable/binding.ts';

export class MemorySession implements BindingSession {
  #seen = 0;

  admits(version: number): boolean {
    if (version < this.#seen) return false;
    this.#seen = version;
    return true;
  }

  advanceTo(version: number): void {
    if (version > this.#seen) this.#seen = version;
  }

  close(): void {
    this.#seen = 0;
  }
}
