/**
 * Simulated runs of the causal store, and proof that the checkers notice each rule that is left
 * out.
 */
import { describe, expect, test } from 'vitest';
import { copyPartitionState } from '../../src/causal/partition-state.ts';
import { Partition } from '../../src/causal/partition.ts';
import {
  EXPECTED_CAUSAL,
  findMissingCausal,
  findPlantedCausal,
  runCausalBatch,
} from '../simulator/causal/batch.ts';
import { LONG_CUTS, PLANTED_CAUSAL_FAULTS } from '../simulator/causal/planted-faults.ts';
import { simulateCausal } from '../simulator/causal/world.ts';
import { CausalWorld, KEYS } from '../support/causal-world.ts';
import { lane } from '../support/lane.ts';
import { replaceMethods } from '../support/replace-methods.ts';

const RUNS = { fast: 20, remaining: 200, all: 200, nightly: 3_000 }[lane];
const FIRST_SEED = Number(process.env['SIM_SEED'] ?? 1);

test(`causal store: ${RUNS} seeds → every property holds`, () => {
  const result = runCausalBatch({ runs: RUNS, seed: FIRST_SEED, overrides: {} });
  expect(result.faults).toEqual([]);
  expect(findMissingCausal(result, {})).toEqual([]);
});

test('causal store: sites that are cut for longer than deletes are kept lose nothing (CAUSAL-18)', () => {
  const { faults, coverage } = runCausalBatch({
    runs: RUNS,
    seed: FIRST_SEED,
    overrides: LONG_CUTS,
  });
  expect(faults).toEqual([]);
  expect(coverage['forgotten keys']).toBeGreaterThan(0);
});

test('causal store: a run is a function of its seed', () => {
  expect(simulateCausal(7)).toEqual(simulateCausal(7));
});

test('causal store: what a batch never went through is missing', () => {
  const nothing = { runs: 1_000, counted: 0, faults: [], coverage: {} };
  expect(findMissingCausal(nothing, {})).toEqual(EXPECTED_CAUSAL);
  expect(findMissingCausal({ ...nothing, runs: 3 }, {})).toEqual([]);
});

describe('causal store: planted faults', () => {
  test.each(Object.entries(PLANTED_CAUSAL_FAULTS))('%s → a run shows it', (name, { shownBy }) => {
    expect(findPlantedCausal(name, shownBy)).toMatchObject({ caught: true });
  });
});

/**
 * What random runs seldom show with few sites: each scenario passes, and fails without its rule.
 */
describe('causal store: directed scenarios', () => {
  const PromiseForgotten = replaceMethods(Partition, () => ({ keepPromise: () => 0 }));
  const NoFence = replaceMethods(Partition, () => ({
    isClockOff: () => false,
    isTooFarAhead: () => false,
  }));

  /** A source makes a promise, and goes on with an older copy and a slower clock. */
  function countBrokenPromises(Type: typeof Partition): number {
    const world = new CausalWorld({ Partition: Type });
    // Both clocks are ahead, since a promise is not above the time of the site.
    for (const partition of [0, 1]) world.offsets.set(`0 ${partition}`, 80_000);
    const backup = copyPartitionState(world.partition(0, 0).state);
    world.settle();
    world.partition(0, 0).state = backup;
    world.offsets.clear();
    world.settle(1);
    world.put(0, KEYS[0], 'new');
    world.settle();
    return world.alarms.filter(({ code }) => code === 'causal-history').length;
  }

  /** One server is an hour ahead for a while. */
  function writesAfterWrongClock(Type: typeof Partition): unknown {
    const world = new CausalWorld({ partitionCount: 2, Partition: Type });
    world.settle();
    world.offsets.set('0 0', 3_600_000_000);
    world.settle();
    world.offsets.clear();
    world.settle();
    const stamp = world.put(0, KEYS[0], 1);
    return typeof stamp === 'number' && stamp - world.now;
  }

  test('a promise outlives the memory of its source (CAUSAL-10)', () => {
    expect(countBrokenPromises(Partition)).toBe(0);
    expect(countBrokenPromises(PromiseForgotten)).toBe(1);
  });

  test('a wrong clock leaves no trace when it is right again (CAUSAL-8)', () => {
    expect(writesAfterWrongClock(Partition)).toBeLessThan(100_000);
    expect(writesAfterWrongClock(NoFence)).toBeGreaterThan(3_000_000_000);
  });
});
