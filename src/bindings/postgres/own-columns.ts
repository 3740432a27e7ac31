/**
 * Columns of the binding's own statements. All of them are text, so that no parser of a type
 * changes them: an application, or another library in its process, may set such parsers for all of
 * `pg`.
 */

/** Returns the value of a column that was selected as `json::text`. */
export function parseJsonColumn(text: unknown): unknown {
  return typeof text === 'string' ? JSON.parse(text) : undefined;
}
