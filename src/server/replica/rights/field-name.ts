/** Names of bounded fields, as keys. */

/** A bounded field of a row. */
export interface BoundedName {
  readonly table: string;
  readonly key: string;
  readonly field: string;
}

const SEPARATOR = '\u0000';

/** Equal for one field alone: names of tables and fields have no separator in them. */
export function formatFieldKey({ table, key, field }: BoundedName): string {
  return table + SEPARATOR + field + SEPARATOR + key;
}
