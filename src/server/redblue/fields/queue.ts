/**
 * A first-in first-out queue, changed in the red order only. A `pop` takes whatever is first when it is applied, so a
 * contended queue aborts nobody.
 */
import { Fifo } from '../../log/fifo.ts';
import type { Effect } from '../effect.ts';
import { handedOut } from '../frozen.ts';
import { writes } from './field.ts';
import type { FieldKind, FieldState } from './field.ts';
import type { Popped, Pushed, QueueView } from './queue-view.ts';
import { PendingQueue } from './pending-queue.ts';

class QueueState implements FieldState {
  #items: Fifo<unknown>;
  /** What is read: the items themselves could be changed by who has them in hand. */
  readonly #view: QueueView;
  constructor(saved: readonly unknown[] = []) {
    this.#items = new Fifo(saved);
    const items = (): Fifo<unknown> => this.#items;
    this.#view = Object.freeze({
      get size(): number {
        return items().size;
      },
      at: (index: number): unknown => handedOut(items().at(index)),
    });
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
    return { found: true, item: items.shift(), remaining: items.size };
  }
  clear(): void {
    this.#items = new Fifo();
  }
  get isInitial(): boolean {
    return this.#items.size === 0;
  }
  snapshot(): unknown {
    return this.#items.slice();
  }
  save(): unknown {
    return this.#items.slice();
  }
}

export const queueKind: FieldKind = {
  name: 'queue',
  redOnly: true,
  effects: { push: writes('push'), pop: ({ table, field }, key) => ({ table, key, field, action: 'pop' }) },
  state: (saved) => new QueueState(saved as readonly unknown[] | undefined),
  pending: () => new PendingQueue(),
};
