/**
 * Measures how often a property meets the cases that it is written for. A property that rarely
 * meets them passes whatever is broken.
 */
import fc from 'fast-check';
import { test } from 'vitest';
import { lane } from './lane.ts';

/** Names what a run has met, once for each run that meets it. */
export type Note = (description: string) => void;

/**
 * Runs the property that `make` gives, from one seed, and counts: of each name that it noted, in
 * what share of the runs.
 *
 * @example
 * const { corrected } = await sharesOf((note) =>
 *   fc.property(views, (given) => void (isCorrected(given) && note('corrected'))));
 */
export async function sharesOf<T>(
  make: (note: Note) => fc.IRawProperty<T>,
  numRuns = 500,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  await fc.assert(
    make((description) => (counts[description] = (counts[description] ?? 0) + 1)),
    { numRuns, seed: 1 },
  );
  for (const subject of Object.keys(counts)) counts[subject]! /= numRuns;
  return counts;
}

/**
 * Like `test`, but not in the fast lane: shares take as long as the property, and change only with
 * its draws.
 */
export const testShares: (name: string, body: () => Promise<void>) => void =
  lane === 'fast' ? () => {} : test;

/** Notes each name once, however often one run meets it. Create one in each run. */
export function onceEach(note: Note): Note {
  const encountered = new Set<string>();
  return (description) => {
    if (encountered.has(description)) return;
    encountered.add(description);
    note(description);
  };
}

/** Notes nothing, for properties whose shares are not measured. */
export const unnoted: Note = () => {};
