/**
 * What a site may do with a path that takes from bounded fields (docs/spec/rights.md): by its own rights it is blue, with
 * those of the pool it is red, and without either it has to wait, so that there is nothing to hold against others.
 */
import type { Origin } from '../records/origin.ts';
import { RED } from '../records/origin.ts';
import type { Choice } from '../records/reply.ts';
import type { Ledger } from '../service/fields/ledger.ts';
import { takesOf } from '../service/takes.ts';
import type { Tables } from '../service/tables.ts';
import type { Store } from '../state/store.ts';

/** Where a path would run. */
interface Place {
  readonly tables: Tables;
  readonly store: Store;
  readonly site: Origin;
}

/** Whether it may be blue, if it is so otherwise. */
export function isWithinRights(choice: Choice, { tables, store, site }: Place): boolean {
  return isHeldBy(site, choice, tables, store);
}

/** The path in the colour that the site may take it in; `undefined` where it has to wait. */
export function allowedBy(choice: Choice, place: Place): Choice | undefined {
  if (isWithinRights(choice, place)) return choice;
  return isHeldBy(RED, choice, place.tables, place.store) ? { ...choice, colour: 'red' } : undefined;
}

function isHeldBy(origin: Origin, { effects }: Choice, tables: Tables, store: Store): boolean {
  return takesOf(tables, effects).every(
    ({ table, key, field, amount }) => (store.read(table, key, field) as Ledger).at(origin) >= amount,
  );
}
