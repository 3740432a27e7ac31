/**
 * A first-in first-out queue, changed in the red order only. A `pop` takes whatever is first when it is applied, so a
 * contended queue aborts nobody.
 */
import { Fifo } from '../../log/fifo.ts';
import type { Effect } from '../effect.ts';
import type { FieldKind, FieldState } from './field.ts';
import type { Popped, Pushed, QueueView } from './queue-view.ts';
import { PendingQueue } from './pending-queue.ts';

class QueueState implements FieldState {
  readonly #items = new Fifo<unknown>();
  read(): QueueView {
    return this.#items;
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
  snapshot(): unknown {
    return this.#items.slice();
  }
}

export const queueKind: FieldKind = {
  name: 'queue',
  redOnly: true,
  effects: (address) => ({
    push: (value) => ({ ...address, action: 'push', value }),
    pop: () => ({ ...address, action: 'pop' }),
  }),
  state: () => new QueueState(),
  pending: () => new PendingQueue(),
};
