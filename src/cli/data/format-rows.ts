/** Formats rows for a terminal. */
import { encodeValue } from '../../server/node/storage/format/value-text.ts';
import type { StoredRow } from '../../server/node/commands/stored-rows.ts';

/** A longer value is cut in a table. */
const MAX_CELL_LENGTH = 40;
const KEY = 'key';

/** Characters that a terminal might act on, and that JSON does not escape. */
const UNSAFE = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Formats rows as a table. Values that are too long are cut. */
export function formatRows(
  fieldNames: readonly string[],
  rows: readonly StoredRow[],
): readonly string[] {
  return alignColumns([
    [KEY, ...fieldNames],
    ...rows.map(({ key, fields }) =>
      [formatKey(key), ...fieldNames.map((name) => formatValue(fields[name]))].map(cut),
    ),
  ]);
}

/** Formats one row in full, with a line for each field. */
export function formatRow({ key, fields }: StoredRow): readonly string[] {
  const values = Object.entries(fields).map(([name, value]) => [name, formatValue(value)]);
  return alignColumns([[KEY, formatKey(key)], ...values]);
}

/** Pads all cells but the last ones to the widths of their columns. */
export function alignColumns(lines: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const cells of lines)
    for (const [at, cell] of cells.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  return lines.map((cells) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Formats a key as it is typed, or as JSON if it could not be seen or could control a terminal. */
function formatKey(key: string): string {
  const text = JSON.stringify(key).replaceAll(UNSAFE, escapeCharacter);
  return text === `"${key}"` && key.trim() === key && key !== '' ? key : text;
}

/** Formats a value as JSON. A field without a value is empty. */
function formatValue(value: unknown): string {
  return value === undefined ? '' : encodeValue(value).replaceAll(UNSAFE, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function cut(text: string): string {
  if (text.length <= MAX_CELL_LENGTH) return text;
  const start = text.slice(0, MAX_CELL_LENGTH - 1);
  // A character of two code units is not cut in the middle.
  return `${start.replace(/[\ud800-\udbff]$/, '')}…`;
}
