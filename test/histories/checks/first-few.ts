/** Faults as they are told: the first few of a kind, and how many more there are. */
const TOLD_MAX = 5;

export function firstFew(faults: readonly string[]): string[] {
  const more = faults.length - TOLD_MAX;
  return more > 0 ? [...faults.slice(0, TOLD_MAX), `and ${more} more like this`] : [...faults];
}
