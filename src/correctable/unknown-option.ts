/** One message for every unknown option, flag and limit. */

/** More edits than this make another word. */
const MAX_EDITS = 3;

/**
 * Describes a name that is no option: names the one that it resembles most, and all that exist.
 *
 * @example
 * describeUnknownOption('lag', ['lagMs', 'levels']); // 'unknown option "lag". Did you mean "lagMs"? Options: lagMs, levels.'
 */
export function describeUnknownOption(name: string, names: readonly string[], kind = 'option'): string {
  const closest = findClosestName(name, names);
  const question = closest ? ` Did you mean "${closest}"?` : '';
  return `unknown ${kind} "${name}".${question} ${kind[0]!.toUpperCase()}${kind.slice(1)}s: ${names.join(', ')}.`;
}

/** Returns the name that `typed` resembles most, or begins with; `undefined` if none is within three edits. */
export function findClosestName(typed: string, names: readonly string[]): string | undefined {
  // Short names resemble everything.
  let fewestEdits = Math.min(MAX_EDITS, typed.length >> 1) + 1;
  let closest: string | undefined;
  for (const name of names) {
    const edits = name.startsWith(typed) && typed.length > 2 ? 1 : countEdits(typed.toLowerCase(), name.toLowerCase());
    if (edits < fewestEdits) [fewestEdits, closest] = [edits, name];
  }
  return closest;
}

/** The Levenshtein distance. */
function countEdits(from: string, to: string): number {
  let row = [...to, ''].map((_, index) => index);
  for (const letter of from) {
    let last = row[0]! + 1;
    row = row.map((above, index) =>
      index ? (last = Math.min(row[index - 1]! + +(letter !== to[index - 1]), above + 1, last + 1)) : last,
    );
  }
  return row[to.length]!;
}
