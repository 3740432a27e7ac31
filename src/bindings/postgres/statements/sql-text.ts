/** Reads the markers of an SQL statement, and writes them as PostgreSQL does. */
import type { ParsedText } from '../../shared/statements/statement-catalog.ts';

/**
 * Strings, quoted names, comments and bodies of functions contain no markers.
 * Neither is the type of a cast (`::int`) a marker, nor the assignment `:=`.
 */
const SQL_TOKENS =
  /\be'(?:[^'\\]|''|\\[\s\S])*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$(?:[A-Za-z_]\w*)?\$)[\s\S]*?\1|--[^\n\r]*|\/\*(?:[^*]|\*(?!\/))*\*\/|::|(?<![\w\])]):([A-Za-z_]\w*)|\$(\d+)/gi;

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
