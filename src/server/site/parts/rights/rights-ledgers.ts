/** Reads the ledgers of bounded fields as exact amounts. */
import type { Origin } from '../../../service/records/origin.ts';
import type { Ledger } from '../../../service/fields/ledger.ts';
import type { StateReader } from '../../../service/state/store.ts';
import type { BoundedName } from './rights-requests.ts';

export function readLedger(state: StateReader, { table, key, field }: BoundedName): Ledger {
  return state.read(table, key, field) as Ledger;
}

/** Differences of larger amounts are not exact. The rest can be used once some was taken. */
export function toExactNumber(amount: number): number {
  return Math.min(amount, Number.MAX_SAFE_INTEGER);
}

export const giveAll =
  (ledger: Ledger) =>
  (site: Origin): number =>
    toExactNumber(ledger.getHolding(site));

/** Returns the half that a site may give away. */
export const giveHalf =
  (ledger: Ledger) =>
  (site: Origin): number =>
    Math.floor(toExactNumber(ledger.getHolding(site)) / 2);

export function toFieldName({ table, key, field }: BoundedName): BoundedName {
  return { table, key, field };
}
