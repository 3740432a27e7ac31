/**
 * Builds the error message for an unknown option, flag or limit. All of them use the same wording.
 */

/** If two names differ by more edits than this, the one is not suggested for the other. */
const MAX_EDITS = 3;

/**
 * Describes a name that is no option, as `unknown option "lag". Did you mean "lagMs"? Options:
 * lagMs, levels.`
 */
export function describeUnknownOption(
  name: unknown,
  names: readonly string[],
  kind = 'Option',
): string {
  // A program without types may pass anything.
  const text = String(name);
  const closest = findClosestName(text, names);
  const question = closest ? ` Did you mean "${closest}"?` : '';
  return `unknown ${kind.toLowerCase()} "${text}".${question} ${kind}s: ${names.join(', ')}.`;
}

/**
 * Returns the name that `typed` resembles most, or that begins with `typed`. Returns `undefined` if
 * none is within three edits.
 */
export function findClosestName(typed: string, names: readonly string[]): string | undefined {
  // A short name resembles every other name, so it gets fewer edits.
  for (let edits = 0; edits <= Math.min(MAX_EDITS, typed.length >> 1); edits++) {
    const isClose = (name: string): boolean =>
      isWithinEdits(typed.toLowerCase(), name.toLowerCase(), edits) ||
      (edits === 1 && typed.length > 2 && name.startsWith(typed));
    const closest = names.find(isClose);
    if (closest) return closest;
  }
  return undefined;
}

/** Returns whether the Levenshtein distance is at most `edits`. */
function isWithinEdits(from: string, to: string, edits: number): boolean {
  const next = from.slice(1);
  const nextTo = to.slice(1);
  if (from[0] === to[0]) return !from || isWithinEdits(next, nextTo, edits);
  return (
    edits-- > 0 &&
    (isWithinEdits(next, nextTo, edits) ||
      isWithinEdits(next, to, edits) ||
      isWithinEdits(from, nextTo, edits))
  );
}
