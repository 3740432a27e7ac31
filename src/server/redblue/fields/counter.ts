/**
 * A counter: sites add to it, and the additions commute. Amounts are whole numbers, since only those add up to the same
 * sum in every order: count cents, not fractions.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import type { Effect } from '../effect.ts';
import type { FieldAddress, FieldKind, FieldState, PendingEffects } from './field.ts';

class CounterState implements FieldState {
  #value = 0;
  read(): number {
    return this.#value;
  }
  apply(effect: Effect): void {
    this.#value += effect.value as number;
  }
  snapshot(): number {
    return this.#value;
  }
}

class PendingAdditions implements PendingEffects {
  readonly #amounts = new Map<number, number>();
  #sum = 0;
  get size(): number {
    return this.#amounts.size;
  }
  append(owner: number, effect: Effect): void {
    const amount = effect.value as number;
    this.#amounts.set(owner, (this.#amounts.get(owner) ?? 0) + amount);
    this.#sum += amount;
  }
  remove(owner: number): void {
    this.#sum -= this.#amounts.get(owner) ?? 0;
    this.#amounts.delete(owner);
  }
  over(base: unknown): number {
    return (base as number) + this.#sum;
  }
}

function add(address: FieldAddress, amount: unknown): Effect {
  if (!Number.isSafeInteger(amount)) {
    const message = `A counter adds whole numbers, not ${String(amount)}: count in the smallest unit, such as cents.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: `${address.table}.${address.field}` });
  }
  return { ...address, action: 'add', value: amount };
}

export const counterKind: FieldKind = {
  name: 'counter',
  redOnly: false,
  effects: (address) => ({ add: (amount) => add(address, amount) }),
  state: () => new CounterState(),
  pending: () => new PendingAdditions(),
};
