/**
 * Values of Cassandra in the plain form of the history: texts, of which equal ones mean the same.
 */

/** A register of text: null where there is none. */
export function toPlainValue(value: unknown): string | null {
  return typeof value === 'string'
    ? value
    : value === undefined || value === null
      ? null
      : `no text: ${String(value)}`;
}

/** A decimal and a map by time stamps, as one value. */
export interface TypedRow {
  readonly d: string;
  readonly m: readonly (readonly [Date, string])[];
}

/** What was written, or is read, of both columns. */
export function plainTyped(row: unknown): string | null {
  const { d, m } = (row ?? {}) as { readonly d?: unknown; readonly m?: unknown };
  if (d === undefined || d === null) return null;
  if (!Array.isArray(m)) return `${Number(d)}|no entries: ${JSON.stringify(m)}`;
  const entries = (m as TypedRow['m']).map(
    ([at, text]) => `${at instanceof Date ? at.getTime() : String(at)}:${text}`,
  );
  return `${Number(d)}|${entries.sort().join(',')}`;
}

export const SHAPES = ['bigint', 'timestamp'] as const;
export type ShapeType = (typeof SHAPES)[number];

/** What the column with the changing type has, with its type. */
export function plainShape(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'bigint') return getTableSchemas('bigint', Number(value));
  return value instanceof Date
    ? getTableSchemas('timestamp', value.getTime())
    : `no shape: ${String(value)}`;
}

export function getTableSchemas(type: ShapeType, number: number): string {
  return `${type} ${number}`;
}
