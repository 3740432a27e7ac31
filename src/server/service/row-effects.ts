/**
 * Effects on whole rows. A row exists from the first write to it. A removal
 * takes what was written up to its time stamp (RedBlue, OSDI 2012, Figure 7).
 * What was written with a later stamp stays, in any order of arrival.
 */
import type { Effect } from '../records/effect.ts';

/** The field name of an effect on the whole row. */
export const WHOLE_ROW = '';

export const createInsertEffect = (
  table: string,
  key: string,
): Effect<undefined, 'blue', false> => ({
  table,
  key,
  field: WHOLE_ROW,
  action: 'insert',
});

export const createRemoveEffect = (
  table: string,
  key: string,
): Effect<undefined> => ({
  table,
  key,
  field: WHOLE_ROW,
  action: 'remove',
});

export const isWholeRow = (effect: Effect): boolean =>
  effect.field === WHOLE_ROW;

export const isRemoval = (effect: Effect): boolean =>
  effect.field === WHOLE_ROW && effect.action === 'remove';
