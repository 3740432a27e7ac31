/**
 * Globals over several red logs: hold, record, release and abort, by the machines of a site, in a
 * world of logs in memory. Clients see strict serializability, sites the same, and no row is held
 * for ever. Each rule that is left out is found.
 */
import { describe, expect, test } from 'vitest';
import { PLANTED_FAULTS } from '../support/globals/faults.ts';
import { CORRECT_PARTS } from '../support/globals/parts.ts';
import {
  LARGE_WINDOW,
  runGlobals,
  type RunResult,
  type WorldOptions,
} from '../support/globals/world.ts';
import { scaleRuns } from '../support/lane.ts';

const RUNS = Number(process.env['GLOBALS_RUNS'] ?? scaleRuns(40));
/** Each planted fault shows in one of so many runs from its seed on. */
const FAULT_RUNS = Number(process.env['GLOBALS_FAULT_RUNS'] ?? 150);
const FIRST_SEED = Number(process.env['GLOBALS_SEED'] ?? 1);

const OPTIONS: WorldOptions = {
  parts: CORRECT_PARTS,
  windowCommits: LARGE_WINDOW,
  losesSite: false,
  copies: 0.1,
  late: 0.1,
  lagging: 0.2,
  globals: 0.5,
  blueSpeed: 0.2,
  haltsLogs: false,
};

const WORLDS: Readonly<Record<string, Partial<WorldOptions>>> = {
  'sites restart from checkpoints': {},
  'logs order nothing for a while': { haltsLogs: true },
  'a site is lost': { losesSite: true },
  'a site is lost with blue operations': { losesSite: true, blueSpeed: 0.005, globals: 0.9 },
  'the window is small, and many records land late or twice': {
    windowCommits: 3,
    copies: 0.5,
    late: 0.4,
    lagging: 0.01,
    globals: 0.8,
  },
};

describe('globals are strictly serializable, whole, and end', () => {
  test.each(Object.entries(WORLDS))('%s', (_, changed) => {
    const counts: Record<string, number> = {};
    for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed += 1) {
      const result = runGlobals(seed, { ...OPTIONS, ...changed });
      expect({ seed, problems: result.problems }).toEqual({ seed, problems: [] });
      for (const [name, count] of Object.entries(result.counts))
        counts[name] = (counts[name] ?? 0) + count;
    }
    // The runs meet what they are for.
    for (const name of ['global', 'release', 'held', 'conflict', 'committed'])
      expect(counts[name], name).toBeGreaterThan(0);
  });
});

describe('a rule that is left out is found', () => {
  test.each(PLANTED_FAULTS)('$rule', ({ parts, options, seed: first = 1 }) => {
    const world = { ...OPTIONS, ...options };
    const faulty = { ...world, parts: { ...CORRECT_PARTS, ...parts } };
    const found = findProblem(first, faulty);
    expect(found, `no run of ${FAULT_RUNS} from seed ${first} on shows it`).toBeDefined();
    // With the rule, the same run has no problem.
    if (found !== undefined) expect(runGlobals(found.seed, world).problems).toEqual([]);
  });
});

function findProblem(
  first: number,
  options: WorldOptions,
): (RunResult & { readonly seed: number }) | undefined {
  for (let seed = first; seed < first + FAULT_RUNS; seed += 1) {
    const result = runGlobals(seed, options);
    if (result.problems.length > 0) return { ...result, seed };
  }
  return undefined;
}
