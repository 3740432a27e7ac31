/**
 * A number that never falls below a minimum, although sites take from it without coordination. They
 * take by rights (docs/spec/rights.md). A blue take uses the rights of its site, and a red one
 * those of the pool.
 */
import {
  isRedPosition,
  type RowField,
  type Effect,
  type EffectByRights,
  type Stamp,
} from '../records/effect.ts';
import { MAX_ORIGINS, RED, type Origin } from '../records/origin.ts';
import { describeKind, createInternalError } from '../records/internal-errors.ts';
import type { EffectBuilder, FieldKind, FieldName, FieldOptions, FieldState } from './field.ts';
import {
  LedgerOverlay,
  LedgerState,
  type BoundedView,
  type Ledger,
  type SavedLedger,
} from './ledger.ts';
import { SummedEffects, type OwnedEffect } from './owned-effects.ts';
import { addExact, isAmount, type ExactSum } from './exact-sum.ts';
import { check } from '../../../correctable/errors.ts';
import { checkOptionNames, type OptionNamesOf } from '../../../correctable/validate.ts';
import type { Field } from './field-declaration.ts';

const BOUNDED_COUNTER_OPTIONS: OptionNamesOf<{ readonly min: number }> = {
  min: true,
};

/**
 * Declares a number that never falls below `min`, although sites take from it without coordination.
 * Reads as a `BoundedView`. Initially `min`; `give` adds to it. Each site has rights to a share of
 * the amount above `min`. Rights move to the sites that use them. A `take` in a blue shadow
 * operation is blue, and final at once, if the site has enough rights. Otherwise it is red. So an
 * operation that its contract declares blue cannot choose it.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `min` is missing or no integer.
 * @example
 * sell: blue((a: { event: string; seats: number }) => [
 *   events.row(a.event).seats.take(a.seats),
 * ]),
 * // …
 * sell: (args, { tables, shadow }) =>
 *   tables.events.row(args.event).seats.left < args.seats
 *     ? { sold: false }
 *     : shadow.sell(args, { sold: true }),
 */
export function boundedCounter(options: { readonly min: number }): Field<
  BoundedView,
  {
    give(amount: number): Effect<undefined, 'blue', false>;
    take(amount: number): EffectByRights;
  }
> {
  checkOptionNames(options, { call: 'boundedCounter({ min: 0 })' }, BOUNDED_COUNTER_OPTIONS);
  const { min } = options;
  check(Number.isSafeInteger(min), 'min', 'must be an integer, as boundedCounter({ min: 0 })');
  return { kind: 'bounded', min };
}

/** The value of a transfer of rights. */
export interface Transfer {
  readonly to: Origin;
  readonly amount: number;
}

class BoundedCounterState extends LedgerState implements FieldState {
  constructor(saved: SavedLedger | undefined, { min = 0 }: FieldOptions) {
    super(min, saved);
  }

  read(): Ledger {
    return this;
  }

  apply({ action, value }: Effect, stamp: Stamp): void {
    const { site } = stamp;
    // One log orders the row, so that there is one pool, whichever log it is.
    const holder = isRedPosition(stamp) ? RED : site;
    switch (action) {
      case 'give':
        return this.give(site, value as number);
      case 'take':
        return this.take(holder, value as number);
      case 'transfer':
        return this.transfer(holder, value as Transfer);
    }
  }

  clear(): void {
    throw new Error('rows with a bounded field are not removed');
  }

  get isInitial(): boolean {
    return false;
  }
}

/**
 * Effects in flight on one field: takes from the pool, and amounts that are given. Their sums are
 * enough.
 */
class PendingBoundedCounter extends SummedEffects {
  readonly #sums: { grants: ExactSum; takes: ExactSum } = {
    grants: 0,
    takes: 0,
  };

  protected getValue(base: unknown): Ledger {
    return new LedgerOverlay(base as Ledger, { ...this.#sums });
  }

  protected count({ effect }: OwnedEffect, sign: 1 | -1): void {
    const amount = sign * (effect?.value as number);
    if (effect?.action === 'give') this.#sums.grants = addExact(this.#sums.grants, amount);
    else if (effect?.action === 'take') this.#sums.takes = addExact(this.#sums.takes, amount);
  }
}

const createAmountEffect =
  (action: 'give' | 'take'): EffectBuilder =>
  (name, key, amount, options) => {
    checkAmount(name, action, amount);
    if (options !== undefined) {
      // An extra option would be ignored silently.
      const message = `The ${action} of a bounded field has no options: it never goes below the minimum of its field, boundedCounter({ min: 0 }).`;
      throw createInternalError('INVALID_ARGUMENT', message, `${name.table}.${name.field}`);
    }
    return { table: name.table, key, field: name.field, action, value: amount };
  };

function checkAmount({ table, field }: FieldName, action: string, amount: unknown): void {
  if (isAmount(amount)) return;
  const message = `The ${action} of a bounded field wants an integer from 0 on, not ${describeKind(amount)}: count in the smallest unit.`;
  throw createInternalError('INVALID_ARGUMENT', message, `${table}.${field}`);
}

/**
 * Creates the effect that moves rights from the site of the operation to another origin. Authors
 * cannot create it.
 */
export function createTransferEffect({ table, key, field }: RowField, value: Transfer): Effect {
  return { table, key, field, action: 'transfer', value: Object.freeze(value) };
}

/**
 * Checks the value of an effect from another site. An invalid value could create rights from
 * nothing.
 */
function isValidValue(action: string, value: unknown): boolean {
  if (action !== 'transfer') return isAmount(value);
  if (typeof value !== 'object' || value === null) return false;
  const { to, amount } = value as Partial<Transfer>;
  // The site may have joined according to the sender only. Rights that go to no site are lost, and
  // nothing worse happens.
  return isAmount(to) && to <= MAX_ORIGINS && isAmount(amount);
}

export const boundedCounterKind: FieldKind = {
  name: 'bounded',
  builder: 'boundedCounter',
  isRedOnly: false,
  effects: {
    give: createAmountEffect('give'),
    take: createAmountEffect('take'),
  },
  ownActions: ['transfer'],
  accepts: isValidValue,
  state: (saved, options = {}) =>
    new BoundedCounterState(saved as SavedLedger | undefined, options),
  pending: () => new PendingBoundedCounter(),
};
