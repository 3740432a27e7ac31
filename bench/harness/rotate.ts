/** The first system of one round is the last of the next, so that changes of the machine affect all alike. */

/** All of them, in order, from another one on in each round; rounds count from 0. */
export function rotate<T>(all: readonly T[], round: number): readonly T[] {
  const first = all.length === 0 ? 0 : round % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
}
