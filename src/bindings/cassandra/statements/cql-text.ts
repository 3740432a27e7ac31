/**
 * What can be read off the text of a CQL statement: its bind markers, the
 * keyspaces that it names, what it changes.
 */

/**
 * Text, quoted names and comments are passed over: a marker inside is none. Nor
 * is the colon of a literal: `{id:now()}`.
 */
const CQL_TOKENS =
  /'(?:[^']|'')*'|\$\$[\s\S]*?\$\$|--[^\n\r]*|\/\/[^\n\r]*|\/\*[\s\S]*?\*\/|\?|(?<![\w"'\]}]):([A-Za-z]\w*|"(?:[^"]|"")*")|"(?:[^"]|"")*"/g;

/**
 * The markers in order: the name of each, as a key of the arguments;
 * `undefined` for a `?`.
 */
export function findBindMarkers(cql: string): (string | undefined)[] {
  const markers: (string | undefined)[] = [];
  for (const [part, name] of cql.matchAll(CQL_TOKENS)) {
    if (part === '?') markers.push(undefined);
    else if (name !== undefined)
      markers.push(
        name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name,
      );
  }
  return markers;
}

/**
 * A quoted name elsewhere is passed over: what is inside may look like this.
 */
const QUALIFIED_NAMES =
  /"(?:[^"]|"")*"|\b(?:from|into|update)(?:\s+(\w+)|\s*"((?:[^"]|"")+)")\s*\.\s*["\w]/gi;

/** The keyspaces that the statement names, as the cluster writes them. */
export function findKeyspaces(cql: string): string[] {
  const names = cql.replace(CQL_TOKENS, (part) =>
    part.startsWith('"') ? part : ' ',
  );
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
 * Whether it is one plain write of one partition. Batches, `IN` and `IF` may be
 * refused after a part was done.
 */
export function isSinglePartitionChange(cql: string): boolean {
  const words = removeLiterals(cql);
  return (
    /^[\s_]*(insert|update|delete)\b/i.test(words) &&
    !/\b(if|in)\b/i.test(words)
  );
}

/**
 * The statement with nothing but words of CQL and plain names: a text, a
 * comment or a quoted name may look like anything.
 */
function removeLiterals(cql: string): string {
  return cql.replace(CQL_TOKENS, ' _ ');
}
