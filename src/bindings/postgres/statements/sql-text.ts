/** Reads the markers of an SQL statement, and writes them as PostgreSQL does. */
import type { ParsedText } from '../../shared/statements/statement-catalog.ts';

/** What contains no markers, and where a colon begins none. */
const WITHOUT_MARKERS = [
  // A string with escapes: e'it\'s'.
  /\be'(?:[^'\\]|''|\\[\s\S])*'/,
  // A string, and a quoted name.
  /'(?:[^']|'')*'/,
  /"(?:[^"]|"")*"/,
  // The body of a function, between $$ or $tag$.
  /(\$(?:[A-Za-z_]\w*)?\$)[\s\S]*?\1/,
  // Comments.
  /--[^\n\r]*/,
  /\/\*(?:[^*]|\*(?!\/))*\*\//,
  // The type of a cast: ::int.
  /::/,
];

/** `:name`, but not the end of a slice of an array, and `$1`. */
const MARKERS = [/(?<![\w\])]):([A-Za-z_]\w*)/, /\$(\d+)/];

const SQL_TOKENS = new RegExp(
  [...WITHOUT_MARKERS, ...MARKERS].map(({ source }) => source).join('|'),
  'gi',
);

/**
 * Returns the statement with its markers as `$1`, `$2`, and their names.
 * Markers of one name are one parameter.
 */
export function parseSql(sql: string): ParsedText {
  const markers: (string | undefined)[] = [];
  const text = sql.replace(
    SQL_TOKENS,
    (token: string, _tag: unknown, name?: string, position?: string) => {
      if (position !== undefined) {
        while (markers.length < Number(position)) markers.push(undefined);
        return token;
      }
      if (name === undefined) return token;
      if (!markers.includes(name)) markers.push(name);
      return `$${markers.indexOf(name) + 1}`;
    },
  );
  return { text, markers };
}
