import { structurallyEqual } from '../../../correctable/structural-equality.ts';
import { formatValue } from '../../../server/check/values/format-values.ts';
import type { StateReader } from '../../../server/service/state/store.ts';
import { isSameSent } from './compare-sent.ts';
import type { ModelView } from './model.ts';
import { isLedger, toComparableLedger } from './model-operation.ts';

/**
 * Describes the first difference between the model and the rows of a site. Returns `undefined` if
 * there is none.
 */
export function describeDifference(view: ModelView, state: StateReader): string | undefined {
  for (const [table, { fields, indexes }] of Object.entries(view.tables)) {
    const keys = view.keys(table);
    const found = [...state.scan({ table }, false)].map(({ key }) => key);
    if (!structurallyEqual(found, keys))
      return `the rows ${found.join()} of ${table}, not ${keys.join()}`;
    for (const key of keys) {
      for (const field of Object.keys(fields)) {
        const [value, expected] = [
          toComparable(state.read(table, key, field)),
          toComparable(view.read(table, key, field)),
        ];
        if (isSameSent(value, expected)) continue;
        return `${table}.${key}.${field} as ${formatValue(value)}, not ${formatValue(expected)}`;
      }
    }
    for (const field of indexes) {
      const [scanned, expected] = [
        [...state.scan({ table, field }, false)],
        view.entries(table, field),
      ];
      const pairs = (entries: typeof expected): unknown =>
        entries.map(({ value, key }) => [value, key]);
      if (structurallyEqual(pairs(scanned), pairs(expected))) continue;
      return `the order ${formatValue(pairs(scanned))} of ${table}.${field}, not ${formatValue(pairs(expected))}`;
    }
  }
  return undefined;
}

/**
 * Converts a value to plain data that can be compared: a queue to an array, a set to a sorted
 * array, a ledger to its comparable part.
 */
function toComparable(value: unknown): unknown {
  if (isLedger(value)) return toComparableLedger(value);
  if (value instanceof Set) return [...(value as Set<unknown>)].map(formatValue).toSorted();
  const { size, at } = (value ?? {}) as {
    readonly size?: number;
    at?(index: number): unknown;
  };
  if (size === undefined || at === undefined || Array.isArray(value)) return value;
  return Array.from({ length: size }, (_, index) =>
    (value as { at(index: number): unknown }).at(index),
  );
}
