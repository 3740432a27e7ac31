/**
 * A number that never falls below a minimum, though sites take from it without asking anybody: each takes by rights that it
 * holds (docs/spec/rights.md). Whose rights an effect uses its stamp says: those of its site where the operation is blue,
 * the pool where it is red.
 */
import type { Effect, Stamp } from '../../records/effect.ts';
import { RED, type Origin, type Origins } from '../../records/origin.ts';
import { kindOf, ownError } from '../../records/own-errors.ts';
import type { EffectBuilder, FieldKind, FieldName, FieldOptions, FieldState } from './field.ts';
import { LedgerOver, LedgerState, type Ledger, type SavedLedger } from './ledger.ts';
import { SummedEffects, type Owned } from './owned-effects.ts';
import { plus, type Sum } from './sum.ts';

/** What the transfer of rights carries. */
export interface Transfer {
  readonly to: Origin;
  readonly amount: number;
}

class BoundedState implements FieldState {
  readonly #ledger: LedgerState;
  constructor(saved: SavedLedger | undefined, { min = 0 }: FieldOptions) {
    this.#ledger = new LedgerState(min, saved);
  }
  read(): Ledger {
    return this.#ledger;
  }
  apply({ action, value }: Effect, { site, entry }: Stamp): void {
    switch (action) {
      case 'give':
        return this.#ledger.give(site, value as number);
      case 'take':
        return this.#ledger.take(entry, value as number);
      case 'transfer': {
        const { to, amount } = value as Transfer;
        return this.#ledger.transfer(entry, to, amount);
      }
    }
  }
  clear(): void {
    throw new Error('rows with a bounded field are not removed');
  }
  get isInitial(): boolean {
    return false;
  }
  snapshot(): unknown {
    return this.#ledger.shown();
  }
  save(): SavedLedger {
    return this.#ledger.save();
  }
}

/** What is in flight on one field: takes that will draw on the pool, and what is given. Their sums say all. */
class PendingBounded extends SummedEffects {
  readonly #sums: { given: Sum; taken: Sum } = { given: 0, taken: 0 };

  protected shown(base: unknown): Ledger {
    return new LedgerOver(base as Ledger, { ...this.#sums });
  }

  protected count({ effect }: Owned, sign: 1 | -1): void {
    const amount = sign * (effect?.value as number);
    if (effect?.action === 'give') this.#sums.given = plus(this.#sums.given, amount);
    else if (effect?.action === 'take') this.#sums.taken = plus(this.#sums.taken, amount);
  }
}

const changes =
  (action: 'give' | 'take'): EffectBuilder =>
  (name, key, amount, options) => {
    checkAmount(name, action, amount);
    if (options !== undefined) throw withOptions(name, action);
    return { table: name.table, key, field: name.field, action, value: amount };
  };

function checkAmount({ table, field }: FieldName, action: string, amount: unknown): void {
  if (isAmount(amount)) return;
  const message = `The ${action} of a bounded field wants a whole number from 0 on, not ${kindOf(amount)}: count in the smallest unit.`;
  throw ownError('INVALID_ARGUMENT', message, `${table}.${field}`);
}

/** They would be dropped without a word. */
function withOptions({ table, field }: FieldName, action: string): Error {
  const message = `The ${action} of a bounded field has no options: it never goes below the minimum of its field, bounded({ min: 0 }).`;
  return ownError('INVALID_ARGUMENT', message, `${table}.${field}`);
}

/** Rights go from the site of the operation to another origin: no author's effect. */
export function transferEffect(
  { table, key, field }: Pick<Effect, 'table' | 'key' | 'field'>,
  value: Transfer,
): Effect {
  return { table, key, field, action: 'transfer', value: Object.freeze(value) };
}

/** What an effect of another site may carry: with anything else rights would be made of nothing. */
function mayCarry(action: string, value: unknown, origins?: Origins): boolean {
  if (action !== 'transfer') return isAmount(value);
  if (typeof value !== 'object' || value === null) return false;
  const { to, amount } = value as Partial<Transfer>;
  return isAmount(to) && (to === RED || origins?.isSite(to) !== false) && isAmount(amount);
}

const isAmount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

export const boundedKind: FieldKind = {
  name: 'bounded',
  redOnly: false,
  effects: { give: changes('give'), take: changes('take') },
  ownActions: ['transfer'],
  takes: mayCarry,
  state: (saved, options = {}) => new BoundedState(saved as SavedLedger | undefined, options),
  pending: () => new PendingBounded(),
};
