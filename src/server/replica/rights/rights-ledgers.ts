/** What the ledger of a bounded field shows, as exact amounts. */
import type { Origin } from '../../records/origin.ts';
import type { Ledger } from '../../service/fields/ledger.ts';
import type { StateReader } from '../../state/store.ts';
import type { BoundedName } from './rights-requests.ts';

export function readLedger(
  state: StateReader,
  { table, key, field }: BoundedName,
): Ledger {
  return state.read(table, key, field) as Ledger;
}

/**
 * Of more, differences are not exact: what stands above that has to wait until
 * some is taken.
 */
export function toExactNumber(amount: number): number {
  return Math.min(amount, Number.MAX_SAFE_INTEGER);
}

export const giveAll =
  (ledger: Ledger) =>
  (site: Origin): number =>
    toExactNumber(ledger.getHolding(site));

/** What a site may give and keep enough itself. */
export const giveHalf =
  (ledger: Ledger) =>
  (site: Origin): number =>
    Math.floor(toExactNumber(ledger.getHolding(site)) / 2);

export function toFieldName({ table, key, field }: BoundedName): BoundedName {
  return { table, key, field };
}
