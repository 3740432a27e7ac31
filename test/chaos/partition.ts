/** The rows of a round. Their names begin with its seed, so that rounds share none. */

/** The partition beside `main`, if there are two. */
export const PARTITION = 'us';

/**
 * Returns the names of rows. With two partitions every second one is in the other partition than
 * `main`.
 */
export function nameRows(seed: number, partitions: number, names: readonly string[]): string[] {
  const isInPartition = (place: number): boolean => partitions > 1 && place % 2 === 1;
  return names.map(
    (name, place) => `${isInPartition(place) ? `${PARTITION}/` : ''}${seed}/${name}`,
  );
}
