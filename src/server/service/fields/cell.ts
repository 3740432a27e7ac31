/** A cell, assigned in the red order only: all sites see the same values. `assign` yields the previous one. */
import type { Effect } from '../../records/effect.ts';
import { createEffectBuilder, type FieldKind, type FieldState } from './field.ts';
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
  protected override computeResult(_effect: Effect, base: unknown): unknown {
    return this.applyTo(base);
  }
}

export const cellKind: FieldKind = {
  name: 'cell',
  isRedOnly: true,
  isIndexable: true,
  effects: { assign: createEffectBuilder('assign') },
  state: (saved) => new CellState(saved),
  pending: () => new PendingAssignments(),
};
