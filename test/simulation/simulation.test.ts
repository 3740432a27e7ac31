/** Simulated runs: the code of production under faults, and proof that the checkers notice broken code. */
import { describe, expect, test } from 'vitest';
import { PROFILES } from '../../src/testing/simulator/options.ts';
import { PLANTED } from '../../src/testing/simulator/planted.ts';
import { simulate } from '../../src/testing/simulator/simulation.ts';
import type { RunResult } from '../../src/testing/simulator/simulation.ts';

const RUNS_PER_PROFILE = 40;
const PLANTED_RUNS_MAX = 300;
const FIRST_SEED = Number(process.env['SIM_SEED'] ?? 1);

const seeds = (count: number): number[] => Array.from({ length: count }, (_, index) => FIRST_SEED + index);
const sum = (results: readonly RunResult[], name: string): number =>
  results.reduce((total, { coverage }) => total + (coverage[name] ?? 0), 0);

describe('simulation', () => {
  for (const profile of PROFILES) {
    test(`${profile}: ${RUNS_PER_PROFILE} seeds → every property holds`, () => {
      const results = seeds(RUNS_PER_PROFILE).map((seed) => simulate(seed, profile));
      const faults = results.flatMap(({ seed, fault }) =>
        fault === undefined
          ? []
          : [`${fault.checker}: ${fault.message} (npm run sim -- --runs 1 --seed ${seed} --profile ${profile})`],
      );
      expect(faults).toEqual([]);
    });
  }

  test('swarm: coverage → runs are not empty and go through every fault and message', () => {
    const results = seeds(RUNS_PER_PROFILE).map((seed) => simulate(seed, 'swarm'));
    for (const { coverage } of results) expect(coverage['operations answered']).toBeGreaterThan(0);
    const kinds = ['log.propose', 'log.append', 'log.appended'];
    const blueKinds = ['blue.operations', 'blue.received', 'blue.heartbeat', 'blue.resend'];
    for (const name of ['red applied', 'red rejected', 'crashes', 'pauses', 'partitions', ...kinds, ...blueKinds]) {
      expect([name, sum(results, name) > 0]).toEqual([name, true]);
    }
  });

  test('one seed twice → the same run', () => {
    expect(simulate(FIRST_SEED, 'swarm')).toEqual(simulate(FIRST_SEED, 'swarm'));
  });
});

describe('simulation: planted faults', () => {
  for (const [name, planted] of Object.entries(PLANTED)) {
    test(`${name} → caught by ${planted.caughtBy.join(' or ')}`, () => {
      const caught = seeds(PLANTED_RUNS_MAX).find(
        (seed) => simulate(seed, planted.profile, planted).fault !== undefined,
      );
      expect(caught).toBeDefined();
      const fault = simulate(caught ?? 0, planted.profile, planted).fault;
      expect(planted.caughtBy).toContain(fault?.checker);
    });
  }
});
