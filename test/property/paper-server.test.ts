/**
 * The paper's servers, which the benchmarks of partitions measure, are strictly serializable for
 * any threshold and delay. Otherwise their figures would mean nothing. Each rule that is left out
 * is found.
 */
import { expect, test } from 'vitest';
import fc from 'fast-check';
import { PaperServer } from '../../bench/sdur/systems/paper-server.ts';
import { intersects } from '../../bench/sdur/systems/transaction.ts';
import { scaleRuns } from '../support/lane.ts';
import { replaceMethods } from '../support/replace-methods.ts';
import { runPaperHistory, type HistoryOptions } from '../support/paper-history.ts';
import { sharesOf, testShares, unnoted, type Note } from '../support/property-shares.ts';

const drawn = fc.record({
  seed: fc.nat(),
  threshold: fc.constantFrom(0, 1, 3, 10),
  delayMs: fc.constantFrom(0, 5, 40),
  globalShare: fc.constantFrom(0.1, 0.4, 0.8),
  rows: fc.constantFrom(3, 10, 30),
});

const isSerializable = (note: Note): fc.IProperty<[Omit<HistoryOptions, 'Server'>]> =>
  fc.property(drawn, (options) => {
    const { problem, counts } = runPaperHistory({ ...options, Server: PaperServer });
    expect(problem).toBeUndefined();
    if (counts.leaps > 0) note('leaps');
    if (counts.aborted > 0) note('aborts');
    if (counts.globals > 0) note('globals');
  });

test('histories of the servers are strictly serializable, for drawn R and Δ', () => {
  fc.assert(isSerializable(unnoted), { numRuns: scaleRuns(300) });
});

testShares('what the histories have', async () => {
  const shares = await sharesOf(isSerializable, 100);
  expect(shares).toEqual({
    leaps: expect.toSatisfy((share: number) => share > 0.5),
    aborts: expect.toSatisfy((share: number) => share > 0.9),
    globals: expect.toSatisfy((share: number) => share > 0.5),
  });
});

const FAULTY = {
  LeapsWhatItOverlaps: replaceMethods(PaperServer, () => ({ commutes: () => true })),
  CertifiesOneWay: replaceMethods(PaperServer, () => ({
    conflicts: (_transaction, part, other) => intersects(part.reads, other.writes),
  })),
  EndsWithAllVotes: replaceMethods(PaperServer, () => ({ isThresholdReached: () => true })),
  LeapsAfterTheThreshold: replaceMethods(PaperServer, () => ({ canLeap: () => true })),
};

test.each(Object.entries(FAULTY))('a rule that is left out is found: %s', (_, Server) => {
  const seeds = Array.from({ length: 200 }, (__, seed) => seed);
  const options = { threshold: 3, delayMs: 0, globalShare: 0.4, rows: 8 };
  const isFound = (seed: number): boolean =>
    runPaperHistory({ seed, ...options, Server }).problem !== undefined;
  expect(seeds.some(isFound)).toBe(true);
});
