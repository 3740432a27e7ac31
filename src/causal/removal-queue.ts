/**
 * Keys whose newest version is a tombstone or expires, in the order in which they came (CAUSAL-18).
 *
 * It is a queue of numbered items, so that a script in a store can implement it too. If a key is
 * written again, its old item stays in the queue. The item is ignored when it is due, because the
 * time of the key has changed.
 */
import type { Stamp } from './stamps.ts';

/** Maximum number of items that one call checks, so that no call is slow. */
export const MAX_TAKEN_ITEMS = 20;
/**
 * How often a partition looks for keys to drop within the time that a delete is remembered. With
 * the default of a day, this is once a second.
 */
export const REMOVAL_CHECKS = 86_400;

export interface RemovableKey {
  readonly key: string;
  /** When the key may be dropped. */
  readonly dueAt: Stamp;
}

export class RemovalQueue {
  /** The number of items that were removed. Numbers of items are never reused. */
  #removed = 0;
  #last = 0;
  #items = new Map<number, RemovableKey>();
  checkedAt: Stamp = 0;

  get removed(): number {
    return this.#removed;
  }

  get items(): readonly RemovableKey[] {
    return [...this.#items.values()];
  }

  copy(): RemovalQueue {
    const copy = new RemovalQueue();
    copy.#removed = this.#removed;
    copy.#last = this.#last;
    copy.#items = new Map(this.#items);
    copy.checkedAt = this.checkedAt;
    return copy;
  }

  add(item: RemovableKey): void {
    this.#last += 1;
    this.#items.set(this.#last, item);
  }

  /** Removes some items, the oldest first. Those that are not due must be added again. */
  take(): readonly RemovableKey[] {
    const taken: RemovableKey[] = [];
    while (this.#removed < this.#last && taken.length < MAX_TAKEN_ITEMS) {
      this.#removed += 1;
      taken.push(this.#items.get(this.#removed) as RemovableKey);
      this.#items.delete(this.#removed);
    }
    return taken;
  }
}
