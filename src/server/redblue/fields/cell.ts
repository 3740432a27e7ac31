/**
 * A cell: assigned in the red order only, so that every site sees the same sequence of values. Its effects may read it
 * when applied: `assign` yields the value that was there.
 */
import type { Effect } from '../effect.ts';
import { PendingList } from './field.ts';
import type { FieldKind, FieldState } from './field.ts';

class CellState implements FieldState {
  #value: unknown = undefined;
  read(): unknown {
    return this.#value;
  }
  apply(effect: Effect): unknown {
    const previous = this.#value;
    this.#value = effect.value;
    return previous;
  }
  snapshot(): unknown {
    return this.#value;
  }
}

class PendingAssignments extends PendingList {
  over(base: unknown): unknown {
    const last = this.entries.at(-1);
    return last === undefined ? base : last.effect.value;
  }
  protected override resultOf(_effect: Effect, base: unknown): unknown {
    return this.over(base);
  }
}

export const cellKind: FieldKind = {
  name: 'cell',
  redOnly: true,
  effects: (address) => ({ assign: (value) => ({ ...address, action: 'assign', value }) }),
  state: () => new CellState(),
  pending: () => new PendingAssignments(),
};
