/**
 * What a site may take of bounded fields (docs/spec/rights.md). Rights travel, so they may lie wherever they are wanted:
 * when two sites part, the first holds as many as its operation takes, and all others are the second's, which may have
 * handed them in to the pool. So of ledgers only this counts here: how much is left, not who holds it.
 */
import type { Effect } from '../records/effect.ts';
import type { Ledger } from '../service/fields/ledger.ts';
import { takesOf, type Need } from '../service/takes.ts';
import type { Tables } from '../service/tables.ts';
import type { StateReader } from '../state/store.ts';

/** Whether as much is left as all these effects take together. */
export function isLeftFor(effects: readonly Effect[], tables: Tables, state: StateReader): boolean {
  return lackingFor(effects, tables, state) === undefined;
}

/** Of what these effects take together the first thing of which less is left. */
export function lackingFor(effects: readonly Effect[], tables: Tables, state: StateReader): Need | undefined {
  return takesOf(tables, effects).find(
    ({ table, key, field, amount }) => (state.read(table, key, field) as Ledger).left < amount,
  );
}
