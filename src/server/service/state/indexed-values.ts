/** The values by which an index finds the rows of a table. */
import type { FieldState } from '../fields/field.ts';
import type { Effect } from '../records/effect.ts';
import { isScalar, type Scalar } from '../records/read-range.ts';
import type { Order } from './stored-order.ts';

export const NO_VALUES: readonly Scalar[] = [];

/** The values under which a field's value is found: one of a register or cell, several of a set. */
export function getIndexedValues(value: unknown): readonly Scalar[] {
  if (isScalar(value)) return [value];
  return value instanceof Set ? [...(value as Set<unknown>)].filter(isScalar) : NO_VALUES;
}

/** Returns those index values of a field that the effect may add or remove. */
export function getTouchedValues(state: FieldState, { value }: Effect): readonly Scalar[] {
  if (state.holds === undefined) return getIndexedValues(state.read());
  return isScalar(value) && state.holds(value) ? [value] : NO_VALUES;
}

export function updateIndex(
  index: Order,
  key: string,
  before: readonly Scalar[],
  after: readonly Scalar[],
): void {
  const [had, has] = [new Set(before), new Set(after)];
  for (const value of before) if (!has.has(value)) index.delete({ value, key });
  for (const value of after) if (!had.has(value)) index.add({ value, key });
}
