/**
 * A counter: sites add to it, and the additions commute. Amounts are whole numbers, since only those add up to the same
 * sum in every order: count cents, not fractions.
 */
import { compareStamps, loadPlace, savePlace } from '../../records/effect.ts';
import type { Effect, Place, SavedPlace, Stamp } from '../../records/effect.ts';
import { kindOf, ownError } from '../../records/own-errors.ts';
import { writes, type EffectBuilder, type FieldKind, type FieldState } from './field.ts';
import { SummedEffects, type Owned } from './owned-effects.ts';
import { plus, shownSum, type Sum } from './sum.ts';

class CounterState implements FieldState {
  #value: Sum;
  constructor(saved: Sum = 0) {
    this.#value = saved;
  }
  read(): number {
    return Number(this.#value);
  }
  apply(effect: Effect): void {
    this.#value = plus(this.#value, effect.value as number);
  }
  clear(): void {
    throw new Error('only counters that remember their additions can be cleared up to a stamp');
  }
  get isInitial(): boolean {
    return false;
  }
  snapshot(): unknown {
    return shownSum(this.#value);
  }
  save(): Sum {
    return this.#value;
  }
}

interface Addition {
  readonly stamp: Place;
  readonly amount: number;
}

/** A counter of a row that can be removed: it remembers its additions, so that a removal takes just the earlier ones. */
class RemovableCounterState implements FieldState {
  #value: Sum = 0;
  #additions: Addition[];
  constructor(saved: readonly (readonly [amount: number, stamp: SavedPlace])[] = []) {
    this.#additions = saved.map(([amount, stamp]) => ({ amount, stamp: loadPlace(stamp) }));
    this.#sum();
  }
  read(): number {
    return Number(this.#value);
  }
  apply(effect: Effect, stamp: Stamp): void {
    const amount = effect.value as number;
    this.#value = plus(this.#value, amount);
    this.#additions.push({ stamp, amount });
  }
  clear(upTo: Stamp): void {
    this.#additions = this.#additions.filter(({ stamp }) => compareStamps(stamp, upTo) > 0);
    this.#sum();
  }
  get isInitial(): boolean {
    return this.#additions.length === 0;
  }
  snapshot(): unknown {
    return shownSum(this.#value);
  }
  save(): unknown {
    return this.#additions.map(({ amount, stamp }) => [amount, savePlace(stamp)]);
  }
  #sum(): void {
    this.#value = this.#additions.reduce<Sum>((sum, { amount }) => plus(sum, amount), 0);
  }
}

class PendingAdditions extends SummedEffects {
  #sum = 0;
  #removals = 0;
  protected shown(base: unknown): number {
    if (this.#removals === 0) return (base as number) + this.#sum;
    return this.pending.all().reduce((sum, { effect }) => (effect === undefined ? 0 : sum + amountOf(effect)), 0);
  }
  protected count({ effect }: Owned, sign: 1 | -1): void {
    if (effect === undefined) this.#removals += sign;
    else this.#sum += sign * amountOf(effect);
  }
}

function amountOf({ value }: Effect): number {
  return value as number;
}

const writesAmount = writes('add');

const add: EffectBuilder = (name, key, amount) => {
  if (!Number.isSafeInteger(amount)) {
    const message = `A counter adds whole numbers, not ${kindOf(amount)}: count in the smallest unit, such as cents.`;
    throw ownError('INVALID_ARGUMENT', message, `${name.table}.${name.field}`);
  }
  return writesAmount(name, key, amount);
};

export const counterKind: FieldKind = {
  name: 'counter',
  redOnly: false,
  effects: { add },
  takes: (_action, value) => Number.isSafeInteger(value),
  state: (saved) => new CounterState(saved as Sum | undefined),
  removableState: (saved) => new RemovableCounterState(saved as [number, SavedPlace][] | undefined),
  pending: () => new PendingAdditions(),
};
