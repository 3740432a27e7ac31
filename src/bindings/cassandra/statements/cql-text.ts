/**
 * Reads facts from the text of a CQL statement: its bind markers, its keyspaces, and what it
 * changes.
 */

/**
 * Strings, quoted names and comments are skipped, because they contain no markers. The colon of a
 * literal such as `{id:now()}` is no marker either.
 */
const CQL_TOKENS =
  /'(?:[^']|'')*'|\$\$[\s\S]*?\$\$|--[^\n\r]*|\/\/[^\n\r]*|\/\*[\s\S]*?\*\/|\?|(?<![\w"'\]}]):([A-Za-z]\w*|"(?:[^"]|"")*")|"(?:[^"]|"")*"/g;

/** Returns the names of the markers in order, as keys of the arguments. `undefined` for a `?`. */
export function findBindMarkers(cql: string): (string | undefined)[] {
  const markers: (string | undefined)[] = [];
  for (const [part, name] of cql.matchAll(CQL_TOKENS)) {
    if (part === '?') markers.push(undefined);
    else if (name !== undefined)
      markers.push(name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name);
  }
  return markers;
}

/**
 * Matches a keyspace before a table name. Quoted names in other places are skipped, because they
 * may contain such a text.
 */
const QUALIFIED_NAMES =
  /"(?:[^"]|"")*"|\b(?:from|into|update)(?:\s+(\w+)|\s*"((?:[^"]|"")+)")\s*\.\s*["\w]/gi;

/** Returns the keyspaces of the statement, in the spelling of the cluster. */
export function findKeyspaces(cql: string): string[] {
  const names = cql.replace(CQL_TOKENS, (part) => (part.startsWith('"') ? part : ' '));
  return Array.from(
    names.matchAll(QUALIFIED_NAMES),
    ([, plain, quoted]) => plain?.toLowerCase() ?? quoted,
  )
    .filter((name) => name !== undefined)
    .map((name) => name.replaceAll('""', '"'));
}

export function isSelect(cql: string): boolean {
  return /^[\s_]*select\b/i.test(removeLiterals(cql));
}

export function isConditional(cql: string): boolean {
  return /\bif\b/i.test(removeLiterals(cql));
}

/**
 * Returns whether the statement is one plain write of one partition. Batches, `IN` and `IF` may be
 * refused after a part was applied.
 */
export function isSinglePartitionChange(cql: string): boolean {
  const words = removeLiterals(cql);
  return /^[\s_]*(insert|update|delete)\b/i.test(words) && !/\b(if|in)\b/i.test(words);
}

/**
 * Returns the statement with only words of CQL and plain names. Strings, comments and quoted names
 * may contain any text.
 */
function removeLiterals(cql: string): string {
  return cql.replace(CQL_TOKENS, ' _ ');
}
