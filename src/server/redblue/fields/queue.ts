/**
 * A first-in first-out queue, changed in the red order only. A `pop` takes whatever is first when it is applied, so a
 * contended queue aborts nobody.
 */
import { Fifo } from '../../log/fifo.ts';
import type { Effect } from '../effect.ts';
import type { FieldKind, FieldState } from './field.ts';
import { PendingQueue } from './pending-queue.ts';

/** A queue as generators see it: valid until the generator returns. */
export interface QueueView<T = unknown> {
  readonly size: number;
  /** The item at `index`, counted from the one that a `pop` would take; `undefined` outside. */
  at(index: number): T | undefined;
}

/** What a `pop` took. */
export type Popped<T = unknown> =
  | { readonly found: true; readonly item: T; readonly remaining: number }
  | { readonly found: false; readonly remaining: 0 };

/** What a `push` left. */
export interface Pushed {
  readonly size: number;
}

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
