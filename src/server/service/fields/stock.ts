/**
 * A stock: a number that is changed in the red order only. A `take` decides when it is applied whether there is enough,
 * so that it reads nothing beforehand and a contended stock sends nobody back.
 */
import type { Effect } from '../../records/effect.ts';
import { kindOf, ownError } from '../../records/own-errors.ts';
import type { EffectBuilder, FieldKind, FieldName, FieldState } from './field.ts';
import { plus, shownSum, type Sum } from './sum.ts';
import { OwnedEffects, OwnedFifo, type Owned } from './owned-effects.ts';

/** What a `take` did. */
export interface Taken {
  /** Whether it took all that it was to take; else it took nothing. */
  readonly took: boolean;
  /** What is left after it. */
  readonly remaining: number;
}

/** What an `add` left. */
export interface Stocked {
  readonly remaining: number;
}

/** How far a `take` may go. */
export interface TakeOptions {
  /** What has to be left: where less would be, nothing is taken. A whole number, 0 unless given. */
  readonly atLeast?: number;
}

class StockState implements FieldState {
  #sum: Sum;
  constructor(saved: Sum = 0) {
    this.#sum = saved;
  }
  read(): number {
    return Number(this.#sum);
  }
  apply(effect: Effect): Stocked | Taken {
    const after = stockAfter(this.#sum, effect);
    this.#sum = after.sum;
    return stockResult(effect, after);
  }
  clear(): void {
    this.#sum = 0;
  }
  get isInitial(): boolean {
    return this.#sum === 0;
  }
  snapshot(): unknown {
    return shownSum(this.#sum);
  }
  save(): Sum {
    return this.#sum;
  }
}

const add: EffectBuilder = (name, key, amount) => {
  const value = checkedAmount(name, 'add', amount);
  return { table: name.table, key, field: name.field, action: 'add', value };
};

const NO_OPTIONS: TakeOptions = {};

/** What is misspelt would be dropped without a word. */
function checkedOptions({ table, field }: FieldName, options: unknown): TakeOptions {
  const isGiven = typeof options === 'object' && options !== null && !Array.isArray(options);
  const misspelt = isGiven ? Object.keys(options).find((name) => name !== 'atLeast') : undefined;
  if (isGiven && misspelt === undefined) return options;
  const message = `A stock's take has one option, take(2, { atLeast: 1 }), not ${misspelt ?? kindOf(options)}.`;
  const place = `${table}.${field}`;
  throw ownError('INVALID_ARGUMENT', message, misspelt === undefined ? place : `${place}.${misspelt}`);
}

const take: EffectBuilder = (name, key, amount, options) => {
  const { atLeast = 0 } = options === undefined ? NO_OPTIONS : checkedOptions(name, options);
  if (!Number.isSafeInteger(atLeast)) {
    const message = `atLeast must be a whole number, not ${kindOf(atLeast)}: count in the smallest unit, such as cents.`;
    throw ownError('INVALID_ARGUMENT', message, `${name.table}.${name.field}.atLeast`);
  }
  const value: Take = { amount: checkedAmount(name, 'take', amount), atLeast };
  return { table: name.table, key, field: name.field, action: 'take', value };
};

function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isTake(value: unknown): boolean {
  const { amount, atLeast } = (value ?? {}) as Partial<Take>;
  return isAmount(amount) && Number.isSafeInteger(atLeast);
}

function checkedAmount({ table, field }: FieldName, action: string, amount: unknown): number {
  if (isAmount(amount)) return amount;
  const message = `A stock's ${action} wants a whole number from 0 on, not ${kindOf(amount)}: count in the smallest unit, and what goes out with take.`;
  throw ownError('INVALID_ARGUMENT', message, `${table}.${field}`);
}

export const stockKind: FieldKind = {
  name: 'stock',
  redOnly: true,
  effects: { add, take },
  takes: (action, value) => (action === 'add' ? isAmount(value) : isTake(value)),
  state: (saved) => new StockState(saved as Sum | undefined),
  pending: () => new PendingStock(),
};

/** `over` is what all pending effects make of `base`. */
interface Known {
  readonly base: Sum;
  readonly over: Sum;
}

function after(sum: Sum, { effect }: Owned): Sum {
  return effect === undefined ? 0 : stockAfter(sum, effect).sum;
}

/**
 * Additions and takes in flight over a stock. What all of them make of the committed value is remembered together with
 * that value; when the oldest commits, the value below moves to what the oldest makes of it, and what is remembered still
 * holds. So coming and going cost the same however many are in flight; only what another site takes costs a pass.
 */
export class PendingStock extends OwnedEffects {
  readonly #pending = new OwnedFifo();
  #known: Known | undefined;

  protected add(owned: Owned & { readonly effect: Effect }, base: unknown): Stocked | Taken {
    this.settle();
    const changed = stockAfter(this.#sumOver(base as number), owned.effect);
    this.#pending.push(owned);
    this.#known = { base: base as number, over: changed.sum };
    return stockResult(owned.effect, changed);
  }

  protected addRemoval(owner: number): void {
    this.#pending.push({ owner, effect: undefined });
    if (this.#known !== undefined) this.#known = { base: this.#known.base, over: 0 };
  }

  protected takeOldest(owner: number): boolean {
    return this.#pending.takeOldest(owner, (oldest) => {
      if (this.#known !== undefined) this.#known = { base: after(this.#known.base, oldest), over: this.#known.over };
    });
  }

  protected keep(isWanted: (owned: Owned) => boolean): readonly Owned[] {
    this.#known = undefined;
    return this.#pending.keep(isWanted);
  }

  protected shown(base: unknown): number {
    return Number(this.#sumOver(base as number));
  }

  #sumOver(base: number): Sum {
    if (this.#known?.base === base) return this.#known.over;
    let over: Sum = base;
    for (let index = 0; index < this.#pending.size; index += 1) over = after(over, this.#pending.at(index) as Owned);
    this.#known = { base, over };
    return over;
  }
}

/** What a `take` carries. */
interface Take {
  readonly amount: number;
  readonly atLeast: number;
}

/** The sum after an effect, and whether that has changed it as it was to. */
function stockAfter(sum: Sum, { action, value }: Effect): { readonly sum: Sum; readonly took: boolean } {
  if (action === 'add') return { sum: plus(sum, value as number), took: true };
  const { amount, atLeast } = value as Take;
  const left = plus(sum, -amount);
  return left >= atLeast ? { sum: left, took: true } : { sum, took: false };
}

/** What an effect yields. */
function stockResult(effect: Effect, { sum, took }: { readonly sum: Sum; readonly took: boolean }): Stocked | Taken {
  const remaining = Number(sum);
  return effect.action === 'add' ? { remaining } : { took, remaining };
}
