/**
 * A first-in first-out queue, changed in the red order only. A `pop` takes whatever is first when it is applied, so a
 * contended queue aborts nobody.
 */
import type { Effect } from '../../records/effect.ts';
import { handedOut } from '../../../values/frozen.ts';
import { writes, type FieldKind, type FieldState, type StateParts } from './field.ts';
import { QueueItems, type SavedQueue } from './queue-parts.ts';
import { PendingQueue, type Popped, type Pushed, type QueueView } from './pending-queue.ts';

class QueueState implements FieldState {
  readonly #items: QueueItems;
  /** What is read: the items themselves could be changed by who has them in hand. */
  readonly #view: QueueView;
  constructor(saved?: SavedQueue) {
    const items = new QueueItems(saved);
    this.#items = items;
    this.#view = Object.freeze({
      get size(): number {
        return items.size;
      },
      at: (index: number): unknown => handedOut(items.at(index)),
    });
  }
  get parts(): StateParts {
    return this.#items;
  }
  read(): QueueView {
    return this.#view;
  }
  apply(effect: Effect): Popped | Pushed {
    const items = this.#items;
    if (effect.action === 'push') {
      items.push(effect.value);
      return { size: items.size };
    }
    if (items.size === 0) return { found: false, remaining: 0 };
    return { found: true, item: handedOut(items.shift()), remaining: items.size };
  }
  clear(): void {
    this.#items.clear();
  }
  get isInitial(): boolean {
    return this.#items.size === 0;
  }
  snapshot(): unknown {
    return this.#items.all();
  }
  save(): SavedQueue {
    return this.#items.saveRest();
  }
}

export const queueKind: FieldKind = {
  name: 'queue',
  redOnly: true,
  inParts: true,
  effects: { push: writes('push'), pop: ({ table, field }, key) => ({ table, key, field, action: 'pop' }) },
  state: (saved) => new QueueState(saved as SavedQueue | undefined),
  pending: () => new PendingQueue(),
};
