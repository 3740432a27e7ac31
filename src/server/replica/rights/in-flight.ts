/**
 * Rights of this site that its own operations use or give away which are decided and not applied yet: whoever decides next
 * must not count on them, and nobody else knows of them (docs/spec/rights.md, R-3).
 */
import type { Effect } from '../../records/effect.ts';
import { RED } from '../../records/origin.ts';
import type { Transfer } from '../../service/fields/bounded.ts';
import { isOnBounded } from '../../service/takes.ts';
import type { Tables } from '../../service/tables.ts';
import { nameOf, type BoundedName } from './field-name.ts';

/** What own operations in flight use, by field. */
export class InFlight {
  readonly #tables: Tables;
  readonly #used = new Map<string, number>();
  readonly #handedIn = new Map<string, number>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  of(field: BoundedName): number {
    return this.#used.get(nameOf(field)) ?? 0;
  }

  /** How much of it is on its way into the pool. */
  handedIn(field: BoundedName): number {
    return this.#handedIn.get(nameOf(field)) ?? 0;
  }

  add(effects: readonly Effect[]): void {
    for (const effect of effects) this.#change(effect, 1);
  }

  /** They are applied: the ledger says it from now on. */
  remove(effects: readonly Effect[]): void {
    for (const effect of effects) this.#change(effect, -1);
  }

  #change(effect: Effect, sign: 1 | -1): void {
    if (!isOnBounded(this.#tables, effect)) return;
    addTo(this.#used, nameOf(effect), sign * usedBy(effect));
    if (isForPool(effect)) addTo(this.#handedIn, nameOf(effect), sign * usedBy(effect));
  }
}

function addTo(amounts: Map<string, number>, name: string, more: number): void {
  const now = (amounts.get(name) ?? 0) + more;
  if (now === 0) amounts.delete(name);
  else amounts.set(name, now);
}

function isForPool({ action, value }: Effect): boolean {
  return action === 'transfer' && (value as Transfer).to === RED;
}

function usedBy({ action, value }: Effect): number {
  if (action === 'take') return value as number;
  return action === 'transfer' ? (value as Transfer).amount : 0;
}
