/** The ways to read a product that the benchmark compares. */
export const WAY_NAMES = [
  'useCorrectable',
  'useCorrectable, suspend: false',
  'two queries',
  'use',
  /** The read is prefetched while the pointer is over the link. */
  'useCorrectable, prefetched',
] as const;

export type Way = (typeof WAY_NAMES)[number];
