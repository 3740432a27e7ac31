/** A counter of integers. Only integers have the same sum in every order. */
import { compareStamps, loadPosition, savePosition } from '../records/effect.ts';
import type { Effect, OrderPosition, SavedPosition, Stamp } from '../records/effect.ts';
import { STAMP_BYTES, STATE_BYTES } from '../records/memory-bytes.ts';
import { describeKind, createInternalError } from '../records/internal-errors.ts';
import {
  createEffectBuilder,
  type EffectBuilder,
  type FieldKind,
  type FieldState,
} from './field.ts';
import { SummedEffects, type OwnedEffect } from './owned-effects.ts';
import { addExact, toPlainSum, type ExactSum } from './exact-sum.ts';
import { createPlainField, type Field } from './field-declaration.ts';

/**
 * Declares an integer that sites add to. Reads as a `number`, initially 0.
 *
 * @example
 * blue((a: { account: string; cents: number }) => [accounts.row(a.account).balance.add(a.cents)])
 */
export function counter(): Field<number, { add(amount: number): Effect<undefined, 'blue', false> }>;
export function counter(...options: readonly unknown[]): Field {
  return createPlainField('counter', options);
}

/** The state of a counter: one sum. */
export class CounterState implements FieldState {
  protected value: ExactSum;
  constructor(saved: ExactSum = 0) {
    this.value = saved;
  }
  read(): number {
    return Number(this.value);
  }
  apply(effect: Effect): unknown {
    this.value = addExact(this.value, effect.value as number);
    return undefined;
  }
  clear(): void {
    throw new Error('only counters that remember their additions can be cleared up to a stamp');
  }
  get isInitial(): boolean {
    return false;
  }
  get bytes(): number {
    return STATE_BYTES;
  }
  snapshot(): unknown {
    return toPlainSum(this.value);
  }
  save(): ExactSum {
    return this.value;
  }
}

/** An addition that is remembered, with its stamp. */
const ADDITION_BYTES = STATE_BYTES + STAMP_BYTES;

/**
 * The state of a counter in a row that can be removed. It remembers its additions, so that a
 * removal takes only the earlier ones.
 */
class RemovableCounterState implements FieldState {
  #value: ExactSum = 0;
  #additions: { readonly stamp: OrderPosition; readonly amount: number }[];
  constructor(saved: readonly (readonly [amount: number, stamp: SavedPosition])[] = []) {
    this.#additions = saved.map(([amount, stamp]) => ({
      amount,
      stamp: loadPosition(stamp),
    }));
    this.#sum();
  }
  read(): number {
    return Number(this.#value);
  }
  apply(effect: Effect, stamp: Stamp): void {
    const amount = effect.value as number;
    this.#value = addExact(this.#value, amount);
    this.#additions.push({ stamp, amount });
  }
  clear(upTo: Stamp): void {
    this.#additions = this.#additions.filter(({ stamp }) => compareStamps(stamp, upTo) > 0);
    this.#sum();
  }
  get isInitial(): boolean {
    return this.#additions.length === 0;
  }
  get bytes(): number {
    return 5 * STATE_BYTES + ADDITION_BYTES * this.#additions.length;
  }
  get snapshotBytes(): number {
    return STATE_BYTES;
  }
  snapshot(): unknown {
    return toPlainSum(this.#value);
  }
  save(): unknown {
    return this.#additions.map(({ amount, stamp }) => [amount, savePosition(stamp)]);
  }
  #sum(): void {
    this.#value = this.#additions.reduce<ExactSum>((sum, { amount }) => addExact(sum, amount), 0);
  }
}

class PendingAdditions extends SummedEffects {
  #sum = 0;
  #removals = 0;
  protected getValue(base: unknown): number {
    if (this.#removals === 0) return (base as number) + this.#sum;
    return this.pending
      .all()
      .reduce((sum, { effect }) => (effect === undefined ? 0 : sum + getAmount(effect)), 0);
  }
  protected count({ effect }: OwnedEffect, sign: 1 | -1): void {
    if (effect === undefined) this.#removals += sign;
    else this.#sum += sign * getAmount(effect);
  }
}

function getAmount({ value }: Effect): number {
  return value as number;
}

const createAddEffect = createEffectBuilder('add');

const buildAddEffect: EffectBuilder = (name, key, amount) => {
  if (!Number.isSafeInteger(amount)) {
    const message = `A counter adds integers, not ${describeKind(amount)}: count in the smallest unit, such as cents.`;
    throw createInternalError('INVALID_ARGUMENT', message, `${name.table}.${name.field}`);
  }
  return createAddEffect(name, key, amount);
};

export const counterKind: FieldKind = {
  name: 'counter',
  builder: 'counter',
  isRedOnly: false,
  effects: { add: buildAddEffect },
  accepts: (_action, value) => Number.isSafeInteger(value),
  state: (saved) => new CounterState(saved as ExactSum | undefined),
  removableState: (saved) =>
    new RemovableCounterState(saved as [number, SavedPosition][] | undefined),
  pending: () => new PendingAdditions(),
};
