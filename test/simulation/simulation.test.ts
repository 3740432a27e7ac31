/**
 * Simulated runs: the code of production under faults, and proof that the checkers notice broken
 * code.
 */
// @rule ETCD-W7, RB-B2, RB-R5
import { describe, expect, test } from 'vitest';
import { describeMore, EXPECTED, neverCame } from '../simulator/batch.ts';
import { PROFILES } from '../../src/testing/simulator/options.ts';
import type { Profile } from '../../src/testing/simulator/options.ts';
import { INJECTED_BUGS } from '../simulator/injected-bugs.ts';
import { createSetup, parseOverrides, simulate } from '../simulator/simulate.ts';
import type { RunResult } from '../../src/testing/simulator/run-result.ts';
import { lane, sampleCases, scaleRuns } from '../support/lane.ts';
import { formatOverrides, shrinkRun } from '../../src/testing/simulator/shrink.ts';

/** In so many runs of the swarm, which has four worlds, every fault has to come. */
const SWARM_RUNS = 100;
const RUNS = { fast: 1, remaining: 20, all: 20, nightly: 40 }[lane];
const runsOf = (profile: Profile): number =>
  profile === 'swarm' && lane !== 'fast' ? SWARM_RUNS : RUNS;
const PLANTED_RUNS_MAX = 300;
const GIVEN_SEED = process.env['SIM_SEED'];
const FIRST_SEED = Number(GIVEN_SEED ?? 1);

const seeds = (count: number, first = FIRST_SEED): number[] =>
  Array.from({ length: count }, (_, index) => first + index);
const sum = (results: readonly RunResult[], name: string): number =>
  results.reduce((total, { coverage }) => total + (coverage[name] ?? 0), 0);

const played = new Map<Profile, readonly RunResult[]>();

/** Of the runs of a profile, which are played once for all who ask. */
function resultsOf(profile: Profile): readonly RunResult[] {
  const results =
    played.get(profile) ?? seeds(runsOf(profile)).map((seed) => simulate(seed, profile));
  played.set(profile, results);
  return results;
}

describe('simulation', () => {
  for (const profile of PROFILES) {
    test(`${profile}: ${runsOf(profile)} seeds → every property holds`, () => {
      const results = resultsOf(profile);
      const faults = results.flatMap(({ seed, violation }) =>
        violation === undefined
          ? []
          : [
              `${violation.checker}: ${violation.message} (npm run sim -- --runs 1 --seed ${seed} --profile ${profile})`,
            ],
      );
      expect(faults).toEqual([]);
    });
  }

  test.runIf(runsOf('swarm') >= SWARM_RUNS)(
    'swarm: coverage → runs are not empty and go through every fault and message',
    () => {
      const results = resultsOf('swarm');
      for (const { coverage } of results)
        expect(coverage['operations answered']).toBeGreaterThan(0);
      const kinds = ['log.propose', 'log.append', 'log.appended'];
      const blueKinds = [
        'blue.operations',
        'blue.received',
        'blue.heartbeat',
        'blue.have',
        'blue.resend',
      ];
      for (const name of [
        ...EXPECTED,
        'red applied',
        'clocks set',
        ...kinds,
        ...blueKinds,
        'slot.request',
        'slot.answered',
      ]) {
        expect([name, sum(results, name) > 0]).toEqual([name, true]);
      }
    },
  );

  test('services that are drawn → change fields of each kind, and none of their operations fails', () => {
    // In the last one, an operation tries an insertion beside a take.
    const results = [...seeds(scaleRuns(20), 1), 561].map((seed) =>
      simulate(seed, 'swarm', { overrides: { scenario: 'generated' } }),
    );
    expect(results.flatMap(({ violation }) => violation ?? [])).toEqual([]);
    expect(sum(results, 'answered FINAL_FAILED')).toBe(0);
    expect(sum(results, 'red applied')).toBeGreaterThan(0);
    expect(sum(results, 'blue applied')).toBeGreaterThan(0);
  });

  test('takes of stocks in several red logs → every property holds', () => {
    const overrides = { scenario: 'classic', workload: 'stocks', pairShare: 0.5 } as const;
    const results = seeds(scaleRuns(20), 1).map((seed) => simulate(seed, 'logs', { overrides }));
    expect(results.flatMap(({ violation }) => violation ?? [])).toEqual([]);
  });

  test('batch in which a fault never came → it is named', () => {
    const batch = { runs: 200, seed: 1, profile: 'swarm', overrides: {} } as const;
    const coverage = Object.fromEntries(
      EXPECTED.map((name) => [name, name === 'torn writes' ? 0 : 1]),
    );
    const result = { runs: 200, counted: 200, faults: [], coverage };
    expect(neverCame(result, batch)).toEqual(['torn writes']);
    expect(neverCame({ ...result, runs: 10 }, batch)).toEqual([]);
    expect(neverCame(result, { ...batch, overrides: { siteCount: 1 } })).toEqual([]);
  });

  test('batch with many faults → the seeds of those that are not shown are listed, but not all of many', () => {
    const faults = seeds(30, 1).map((seed) => ({ seed, checker: 'oracle', message: 'a fault' }));
    expect(describeMore(faults.slice(0, 5))).toBe('');
    expect(describeMore(faults.slice(0, 7))).toBe('2 more with a fault: seeds 6, 7\n');
    expect(describeMore(faults)).toMatch(/^25 more with a fault: seeds 6, .*, 25, …\n$/);
  });

  test.each<[number, Profile, string]>(
    sampleCases([
      [34, 'swarm', 'a guess came after the end, of what had waited for its place'],
      [265, 'swarm', 'the model read sets in the order in which they had come'],
      [4489, 'swarm', 'streams that get on one operation a round trip were not waited for'],
      [
        6314,
        'swarm',
        'an operation that was dropped and asked for again had executions of one name',
      ],
      [10698, 'swarm', 'what was in flight at the end was not waited for'],
      [
        40965,
        'cluster',
        'a site that did not know of a join counted as one that knew of the retirement',
      ],
      [
        43118,
        'cluster',
        'a site alone let go of what one other site lacked, since the third one had it',
      ],
    ]),
  )('seed %i of %s had a fault once: %s → none', (seed, profile, _fault) => {
    expect(simulate(seed, profile).violation).toBeUndefined();
  });

  // One of two voters of a red log is rebuilt, and the other one is lost.
  test.each([
    [29, { siteCount: 3, hasFewVoters: true }],
    [32, { siteCount: 3, hasFewVoters: true }],
    [32, { siteCount: 2 }],
  ])('seed %i of restored, %o: a log did not go on → every property holds', (seed, sites) => {
    const overrides = {
      ...sites,
      maxLogs: 3,
      maxWindow: 1000,
      acceptsLoss: false,
      rebuildAtMs: 100,
      restoreAtMs: 800,
      joinAtMs: Infinity,
      retireAtMs: Infinity,
      awayAtMs: Infinity,
      thinkMeanMs: 20,
    };
    expect(simulate(seed, 'restored', { overrides }).violation).toBeUndefined();
  });

  test('one seed twice → the same run', () => {
    expect(simulate(FIRST_SEED, 'swarm')).toEqual(simulate(FIRST_SEED, 'swarm'));
  });
});

/** The fast lane plants one fault for each checker, and the others plant all. */
const allBugs = Object.entries(INJECTED_BUGS);
const firstBugs = new Map(allBugs.toReversed().map((bug) => [bug[1].caughtBy[0], bug])).values();
const bugs = lane === 'fast' ? [...firstBugs] : allBugs;

describe('simulation: planted faults', () => {
  for (const [name, planted] of bugs) {
    test(`${name} → caught by ${planted.caughtBy.join(' or ')}`, () => {
      const isCaught = (seed: number): boolean => {
        const { violation } = simulate(seed, planted.profile, { planted });
        return violation !== undefined && planted.caughtBy.includes(violation.checker);
      };
      const first = GIVEN_SEED === undefined ? planted.shownBy : undefined;
      expect(seeds(PLANTED_RUNS_MAX, first).find(isCaught)).toBeDefined();
    });
  }

  test('a part that gets work and is not due → the fault names it, its site, the time and what to do', () => {
    const planted = INJECTED_BUGS['a-throttle-that-sleeps'];
    const { violation } = simulate(planted?.shownBy ?? 1, 'calm', { planted });
    expect(violation?.message).toMatch(
      /^Executions of site \w+ had work at \d+ ms, and was not due: set isDue where it gets work/,
    );
  });
});

describe('simulation: shrinking', () => {
  test.skipIf(lane === 'fast')(
    'run with a fault → a simpler one with the same fault, that its overrides replay (in the remaining lane)',
    () => {
      const planted = INJECTED_BUGS['no-certification'];
      const isFound = ({ violation, options }: RunResult): boolean =>
        violation?.checker === 'serializability' && options.lossChance > 0;
      let found: RunResult | undefined;
      for (let seed = FIRST_SEED; !found && seed < FIRST_SEED + PLANTED_RUNS_MAX; seed += 1) {
        const result = simulate(seed, 'swarm', { planted });
        if (isFound(result)) found = result;
      }
      if (found === undefined) throw new Error('no run with this fault');
      const { result, overrides } = shrinkRun(found, 'swarm', createSetup({ planted }));
      expect(result.violation?.checker).toBe('serializability');
      expect(Object.keys(overrides).length).toBeGreaterThan(0);
      expect(result.options).toMatchObject(overrides);
      const size = ({ options }: RunResult): number =>
        options.clientCount * options.operationsPerClient;
      expect(size(result)).toBeLessThanOrEqual(size(found));
      const again = simulate(result.seed, 'swarm', {
        planted,
        overrides: parseOverrides(formatOverrides(overrides)),
      });
      expect(again).toEqual(result);
      // Running that one finds the same fault, and no simpler one.
      expect(shrinkRun(again, 'swarm', createSetup({ planted, overrides })).result).toEqual(result);
    },
  );
});
