/** The ways to read a product that the benchmark compares. */
export const WAY_NAMES = [
  'useCorrectable',
  'useCorrectable, suspend: false',
  'two queries',
  'use',
  /** The pointer was over the link for a while. */
  'useCorrectable, prefetched',
] as const;

export type Way = (typeof WAY_NAMES)[number];
