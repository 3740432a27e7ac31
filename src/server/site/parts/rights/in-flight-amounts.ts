/**
 * Amounts that own operations take or give away, and that are decided and not applied yet
 * (docs/spec/rights.md, RIGHTS-3).
 */
import type { Effect } from '../../../service/records/effect.ts';
import { RED } from '../../../service/records/origin.ts';
import type { Transfer } from '../../../service/fields/bounded-counter.ts';
import { isOnBoundedField } from '../../../service/bounded-takes.ts';
import type { Tables } from '../../../service/tables.ts';
import { formatFieldKey, type BoundedName } from './rights-requests.ts';

export class InFlightAmounts {
  readonly #tables: Tables;
  readonly #used = new Map<string, number>();
  readonly #returnedToPool = new Map<string, number>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  getUsed(field: BoundedName): number {
    return this.#used.get(formatFieldKey(field)) ?? 0;
  }

  /** Returns the amount that is on its way into the pool. */
  getReturnedToPool(field: BoundedName): number {
    return this.#returnedToPool.get(formatFieldKey(field)) ?? 0;
  }

  add(effects: readonly Effect[]): void {
    for (const effect of effects) this.#change(effect, 1);
  }

  /** The effects are applied: the ledger contains them from now on. */
  remove(effects: readonly Effect[]): void {
    for (const effect of effects) this.#change(effect, -1);
  }

  #change(effect: Effect, sign: 1 | -1): void {
    if (!isOnBoundedField(this.#tables, effect)) return;
    addAmount(this.#used, formatFieldKey(effect), sign * getUsedAmount(effect));
    if (isPoolTransfer(effect))
      addAmount(this.#returnedToPool, formatFieldKey(effect), sign * getUsedAmount(effect));
  }
}

function addAmount(amounts: Map<string, number>, name: string, more: number): void {
  const now = (amounts.get(name) ?? 0) + more;
  if (now === 0) amounts.delete(name);
  else amounts.set(name, now);
}

function isPoolTransfer({ action, value }: Effect): boolean {
  return action === 'transfer' && (value as Transfer).to === RED;
}

function getUsedAmount({ action, value }: Effect): number {
  if (action === 'take') return value as number;
  return action === 'transfer' ? (value as Transfer).amount : 0;
}
