/** Reads the markers of an SQL statement, and writes them as PostgreSQL does. */
import { numberMarkers, toTokenPattern } from '../../shared/statements/sql-markers.ts';
import type { ParsedText } from '../../shared/statements/statement-catalog.ts';

/** What contains no markers, and where a colon begins none. */
const WITHOUT_MARKERS = [
  // A string with escapes: e'it\'s'.
  /\be'(?:[^'\\]|''|\\[\s\S])*'/,
  // A string, and a quoted name.
  /'(?:[^']|'')*'/,
  /"(?:[^"]|"")*"/,
  // The body of a function, between $$ or $tag$.
  /(?<tag>\$(?:[A-Za-z_]\w*)?\$)[\s\S]*?\k<tag>/,
  // Comments.
  /--[^\n\r]*/,
  /\/\*(?:[^*]|\*(?!\/))*\*\//,
  // The type of a cast: ::int.
  /::/,
];

/** `:name`, but not the end of a slice of an array, and `$1`. */
const MARKERS = [/(?<![\w\])]):(?<name>[A-Za-z_]\w*)/, /\$(?<position>\d+)/];

const TOKENS = toTokenPattern([...WITHOUT_MARKERS, ...MARKERS], 'gi');

/** Returns the statement with its markers as `$1`, `$2`, and their names. */
export function parseSql(sql: string): ParsedText {
  return numberMarkers(sql, { tokens: TOKENS, sign: '$' });
}

const ONE_TRANSACTION =
  /^\s*(select|with|insert|update|delete|merge|truncate|refresh|notify)\b[^;]*;?\s*$/i;

/**
 * Returns whether a statement that fails has certainly changed nothing. Others may commit before
 * they fail: a procedure, an anonymous block, a vacuum, an index that is made concurrently, or
 * several statements in one text.
 */
export function isOneTransaction(sql: string): boolean {
  return ONE_TRANSACTION.test(sql.replace(TOKENS, ' '));
}
