/**
 * A cell: assigned in the red order only, so that every site sees the same sequence of values. Its effects may read it
 * when applied: `assign` yields the value that was there.
 */
import type { Effect } from '../../records/effect.ts';
import { writes, type FieldKind, type FieldState } from './field.ts';
import { PendingWrites } from './pending-list.ts';

class CellState implements FieldState {
  #value: unknown;
  constructor(saved: unknown) {
    this.#value = saved;
  }
  read(): unknown {
    return this.#value;
  }
  apply(effect: Effect): unknown {
    const previous = this.#value;
    this.#value = effect.value;
    return previous;
  }
  clear(): void {
    this.#value = undefined;
  }
  get isInitial(): boolean {
    return this.#value === undefined;
  }
  snapshot(): unknown {
    return this.#value;
  }
  save(): unknown {
    return this.#value;
  }
}

class PendingAssignments extends PendingWrites {
  protected override resultOf(_effect: Effect, base: unknown): unknown {
    return this.over(base);
  }
}

export const cellKind: FieldKind = {
  name: 'cell',
  redOnly: true,
  isIndexable: true,
  effects: { assign: writes('assign') },
  state: (saved) => new CellState(saved),
  pending: () => new PendingAssignments(),
};
