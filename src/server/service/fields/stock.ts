/**
 * A stock that is changed in the red order only. A `take` decides when it is applied, so it rejects
 * no operation.
 */
import type { Effect } from '../records/effect.ts';
import { describeKind, createInternalError } from '../records/internal-errors.ts';
import { CounterState } from './counter.ts';
import type { EffectBuilder, FieldKind, FieldName } from './field.ts';
import { addExact, isAmount, type ExactSum } from './exact-sum.ts';
import { OwnedEffects, OwnedFifo, type OwnedEffect } from './owned-effects.ts';
import { createPlainField, type Field } from './field-declaration.ts';

/**
 * Declares a number with a limit that only red shadow operations change. Reads as a `number`,
 * initially 0. A `take` checks when it is applied whether there is enough, and returns the answer.
 * So concurrent takes never reject each other, unlike generators that read a counter and add to it.
 *
 * @example
 * red(
 *   (a: { event: string; seats: number }) => [
 *     events.row(a.event).seats.take(a.seats, { atLeast: 0 }),
 *   ],
 *   ([taken]) => withMeta(taken.took, { remaining: taken.remaining }),
 * )
 */
export function stock(): Field<
  number,
  {
    add(amount: number): Effect<AddResult, 'red'>;
    take(amount: number, options?: TakeOptions): Effect<TakeResult, 'red'>;
  }
>;
export function stock(...options: readonly unknown[]): Field {
  return createPlainField('stock', options);
}

/** Result of a `take`. */
export interface TakeResult {
  /** Whether it took the full amount. Otherwise it took nothing. */
  readonly took: boolean;
  /** The amount after the `take`. */
  readonly remaining: number;
}

/** Result of an `add`. */
export interface AddResult {
  readonly remaining: number;
}

/** Options of a `take`. */
export interface TakeOptions {
  /** The integer that must remain. If less would remain, nothing is taken. Default: 0 */
  readonly atLeast?: number | undefined;
}

class StockState extends CounterState {
  override apply(effect: Effect): AddResult | TakeResult {
    const after = computeStock(this.value, effect);
    this.value = after.sum;
    return createResult(effect, after);
  }
  override clear(): void {
    this.value = 0;
  }
  override get isInitial(): boolean {
    return this.value === 0;
  }
}

const buildAddEffect: EffectBuilder = (name, key, amount) => {
  const value = checkAmount(name, 'add', amount);
  return { table: name.table, key, field: name.field, action: 'add', value };
};

const NO_OPTIONS: TakeOptions = {};

/** A misspelt option would be ignored silently. */
function checkTakeOptions({ table, field }: FieldName, options: unknown): TakeOptions {
  const isGiven = typeof options === 'object' && options !== null && !Array.isArray(options);
  const misspelt = isGiven ? Object.keys(options).find((name) => name !== 'atLeast') : undefined;
  if (isGiven && misspelt === undefined) return options;
  const message = `A stock's take has one option, take(2, { atLeast: 1 }), not ${misspelt ?? describeKind(options)}.`;
  const path = `${table}.${field}`;
  throw createInternalError(
    'INVALID_ARGUMENT',
    message,
    misspelt === undefined ? path : `${path}.${misspelt}`,
  );
}

const buildTakeEffect: EffectBuilder = (name, key, amount, options) => {
  const { atLeast = 0 } = options === undefined ? NO_OPTIONS : checkTakeOptions(name, options);
  if (!Number.isSafeInteger(atLeast)) {
    const message = `atLeast must be an integer, not ${describeKind(atLeast)}: count in the smallest unit, such as cents.`;
    throw createInternalError('INVALID_ARGUMENT', message, `${name.table}.${name.field}.atLeast`);
  }
  const value: TakeValue = {
    amount: checkAmount(name, 'take', amount),
    atLeast,
  };
  return { table: name.table, key, field: name.field, action: 'take', value };
};

function isTake(value: unknown): boolean {
  const { amount, atLeast } = (value ?? {}) as Partial<TakeValue>;
  return isAmount(amount) && Number.isSafeInteger(atLeast);
}

function checkAmount({ table, field }: FieldName, action: string, amount: unknown): number {
  if (isAmount(amount)) return amount;
  const message = `A stock's ${action} wants an integer from 0 on, not ${describeKind(amount)}: count in the smallest unit, and what goes out with take.`;
  throw createInternalError('INVALID_ARGUMENT', message, `${table}.${field}`);
}

export const stockKind: FieldKind = {
  name: 'stock',
  builder: 'stock',
  isRedOnly: true,
  effects: { add: buildAddEffect, take: buildTakeEffect },
  accepts: (action, value) => (action === 'add' ? isAmount(value) : isTake(value)),
  state: (saved) => new StockState(saved as ExactSum | undefined),
  pending: () => new PendingStock(),
};

function applyEffect(sum: ExactSum, { effect }: OwnedEffect): ExactSum {
  return effect === undefined ? 0 : computeStock(sum, effect).sum;
}

/**
 * Additions and takes in flight. Their result on the committed value is remembered, and stays right
 * when the oldest commits. Only a take of another site costs a pass.
 */
export class PendingStock extends OwnedEffects {
  readonly #pending = new OwnedFifo();
  /** `over` is the result of all pending effects on `base`. */
  #cached: { readonly base: ExactSum; readonly over: ExactSum } | undefined;

  protected add(
    owned: OwnedEffect & { readonly effect: Effect },
    base: unknown,
  ): AddResult | TakeResult {
    this.removeEnded();
    const changed = computeStock(this.#computeSum(base as number), owned.effect);
    this.#pending.push(owned);
    this.#cached = { base: base as number, over: changed.sum };
    return createResult(owned.effect, changed);
  }

  protected addRemoval(owner: number): void {
    this.#pending.push({ owner, effect: undefined });
    if (this.#cached !== undefined) this.#cached = { base: this.#cached.base, over: 0 };
  }

  protected takeOldest(owner: number): boolean {
    return this.#pending.takeOldest(owner, (oldest) => {
      if (this.#cached !== undefined)
        this.#cached = {
          base: applyEffect(this.#cached.base, oldest),
          over: this.#cached.over,
        };
    });
  }

  protected filter(isWanted: (owned: OwnedEffect) => boolean): readonly OwnedEffect[] {
    this.#cached = undefined;
    return this.#pending.filter(isWanted);
  }

  protected getValue(base: unknown): number {
    return Number(this.#computeSum(base as number));
  }

  #computeSum(base: number): ExactSum {
    if (this.#cached?.base === base) return this.#cached.over;
    let over: ExactSum = base;
    for (let index = 0; index < this.#pending.size; index += 1)
      over = applyEffect(over, this.#pending.at(index) as OwnedEffect);
    this.#cached = { base, over };
    return over;
  }
}

interface TakeValue {
  readonly amount: number;
  readonly atLeast: number;
}

/** Returns the sum after an effect, and whether the effect took path. */
function computeStock(
  sum: ExactSum,
  { action, value }: Effect,
): { readonly sum: ExactSum; readonly took: boolean } {
  if (action === 'add') return { sum: addExact(sum, value as number), took: true };
  const { amount, atLeast } = value as TakeValue;
  const left = addExact(sum, -amount);
  return left >= atLeast ? { sum: left, took: true } : { sum, took: false };
}

function createResult(
  effect: Effect,
  { sum, took }: { readonly sum: ExactSum; readonly took: boolean },
): AddResult | TakeResult {
  const remaining = Number(sum);
  return effect.action === 'add' ? { remaining } : { took, remaining };
}
