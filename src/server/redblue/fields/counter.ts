/**
 * A counter: sites add to it, and the additions commute. Amounts are whole numbers, since only those add up to the same
 * sum in every order: count cents, not fractions.
 */
import { Fifo } from '../../log/fifo.ts';
import { compareStamps, loadPlace, savePlace } from '../effect.ts';
import type { Effect, Place, SavedPlace, Stamp } from '../effect.ts';
import { kindOf, ownError } from '../own-errors.ts';
import { writes } from './field.ts';
import type { EffectBuilder, FieldKind, FieldState, PendingEffects } from './field.ts';
import { plus, shownSum } from './sum.ts';
import type { Sum } from './sum.ts';

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

interface Pending {
  readonly owner: number;
  /** None for the removal of the row. */
  readonly amount: number | undefined;
}

class PendingAdditions implements PendingEffects {
  #pending = new Fifo<Pending>();
  #sum = 0;
  #clears = 0;
  get size(): number {
    return this.#pending.size;
  }
  append(owner: number, effect: Effect): void {
    this.#add({ owner, amount: effect.value as number });
  }
  clear(owner: number): void {
    this.#add({ owner, amount: undefined });
  }
  remove(owner: number): void {
    if (this.#pending.at(0)?.owner !== owner) return this.#removeLater(owner);
    while (this.#pending.at(0)?.owner === owner) this.#count(this.#pending.shift()?.amount, -1);
  }
  over(base: unknown): number {
    if (this.#clears === 0) return (base as number) + this.#sum;
    return this.#pending.slice().reduce((sum, { amount }) => (amount === undefined ? 0 : sum + amount), 0);
  }
  /** Somebody in the middle is done: rare, since a site's red operations end in the order in which they began. */
  #removeLater(owner: number): void {
    const all = this.#pending.slice();
    this.#pending = new Fifo(all.filter((pending) => pending.owner !== owner));
    for (const pending of all) if (pending.owner === owner) this.#count(pending.amount, -1);
  }
  #add(pending: Pending): void {
    this.#pending.push(pending);
    this.#count(pending.amount, 1);
  }
  #count(amount: number | undefined, sign: number): void {
    if (amount === undefined) this.#clears += sign;
    else this.#sum += sign * amount;
  }
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
  state: (saved) => new CounterState(saved as Sum | undefined),
  removableState: (saved) => new RemovableCounterState(saved as [number, SavedPlace][] | undefined),
  pending: () => new PendingAdditions(),
};
