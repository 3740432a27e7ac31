/**
 * Rotates the order of systems: the first one of a round is the last one of the next round, so that
 * changes of the machine affect all alike.
 */

/** Returns all items in order, starting from another one in each round. Rounds count from 0. */
export function rotate<T>(all: readonly T[], round: number): readonly T[] {
  const first = all.length === 0 ? 0 : round % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
}
