/** Limits a list of faults: the first few of a kind, and how many more there are. */
const MAX_LISTED = 5;

export function firstFew(faults: readonly string[]): string[] {
  const more = faults.length - MAX_LISTED;
  return more > 0 ? [...faults.slice(0, MAX_LISTED), `and ${more} more like this`] : [...faults];
}
