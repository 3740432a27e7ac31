/** A queue, changed in the red order only. A `pop` takes what is first when it is applied, so it never aborts. */
import type { Effect } from '../../records/effect.ts';
import { freezeForUser } from '../../../values/deep-freeze.ts';
import { createEffectBuilder, type FieldKind, type FieldState, type StateParts } from './field.ts';
import { QueueItems, type SavedQueue } from './queue-parts.ts';
import { PendingQueue, type PopResult, type PushResult, type QueueView } from './pending-queue.ts';

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
      at: (index: number): unknown => freezeForUser(items.at(index)),
    });
  }
  get parts(): StateParts {
    return this.#items;
  }
  read(): QueueView {
    return this.#view;
  }
  apply(effect: Effect): PopResult | PushResult {
    const items = this.#items;
    if (effect.action === 'push') {
      items.push(effect.value);
      return { size: items.size };
    }
    if (items.size === 0) return { found: false, remaining: 0 };
    return { found: true, item: freezeForUser(items.shift()), remaining: items.size };
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
    return this.#items.saveHeader();
  }
}

export const queueKind: FieldKind = {
  name: 'queue',
  isRedOnly: true,
  hasParts: true,
  effects: {
    push: createEffectBuilder('push'),
    pop: ({ table, field }, key) => ({ table, key, field, action: 'pop' }),
  },
  state: (saved) => new QueueState(saved as SavedQueue | undefined),
  pending: () => new PendingQueue(),
};
