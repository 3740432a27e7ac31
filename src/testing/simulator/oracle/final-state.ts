/** Whether a site's rows, fields and orders are those of the model. */
import { structurallyEqual } from '../../../correctable/equal.ts';
import type { StateReader } from '../../../server/state/store.ts';
import { textOf } from './execute.ts';
import { comparedLedger, isLedger } from './ledger.ts';
import type { ModelView } from './model.ts';
import { isSameSent } from './sent.ts';

/** The first difference between the model and a site's rows, in words. */
export function differenceOf(view: ModelView, state: StateReader): string | undefined {
  for (const [table, { fields, indexes }] of Object.entries(view.tables)) {
    const keys = view.keys(table);
    const found = [...state.scan({ table }, false)].map(({ key }) => key);
    if (!structurallyEqual(found, keys)) return `the rows ${found.join()} of ${table}, not ${keys.join()}`;
    for (const key of keys) {
      for (const field of Object.keys(fields)) {
        const [value, expected] = [plain(state.read(table, key, field)), plain(view.read(table, key, field))];
        if (isSameSent(value, expected)) continue;
        return `${table}.${key}.${field} as ${textOf(value)}, not ${textOf(expected)}`;
      }
    }
    for (const field of indexes) {
      const [scanned, expected] = [[...state.scan({ table, field }, false)], view.entries(table, field)];
      const pairs = (entries: typeof expected): unknown => entries.map(({ value, key }) => [value, key]);
      if (structurallyEqual(pairs(scanned), pairs(expected))) continue;
      return `the order ${textOf(pairs(scanned))} of ${table}.${field}, not ${textOf(pairs(expected))}`;
    }
  }
  return undefined;
}

/** Queues as arrays, sets in some fixed order, and of ledgers what is compared. */
function plain(value: unknown): unknown {
  if (isLedger(value)) return comparedLedger(value);
  if (value instanceof Set) return [...(value as Set<unknown>)].map(textOf).toSorted();
  const { size, at } = (value ?? {}) as { readonly size?: number; at?(index: number): unknown };
  if (size === undefined || at === undefined || Array.isArray(value)) return value;
  return Array.from({ length: size }, (_, index) => (value as { at(index: number): unknown }).at(index));
}
