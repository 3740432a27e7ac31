/** Names that were probably meant. */

/** More edits than this are another word. */
const MAX_EDITS = 3;

/** Returns the name of `names` that `typed` most resembles; `undefined` if none is within three edits. */
export function closestName(typed: string, names: readonly string[]): string | undefined {
  const distances = names.map((name) => ({ name, edits: editDistance(typed.toLowerCase(), name.toLowerCase()) }));
  const [closest] = distances.sort((one, other) => one.edits - other.edits);
  // Short names resemble everything.
  const max = Math.min(MAX_EDITS, Math.floor(typed.length / 2));
  return closest !== undefined && closest.edits <= max ? closest.name : undefined;
}

/** The Levenshtein distance. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const replaced = (row[j] as number) + (letter === to[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}
