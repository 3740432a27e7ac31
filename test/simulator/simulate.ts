/** Runs of the worlds that are known here, with or without a planted fault. */
import { ID_TABLE_LIMITS } from '../../src/server/site/parts/lookups/id-table.ts';
import { CERTIFIER_LIMITS } from '../../src/server/site/lane/order/certifier.ts';
import { DEFAULT_MACHINE_SIZES } from '../../src/server/log/machine-sizes.ts';
import { DEFAULT_STORAGE_SIZES } from '../../src/server/node/storage/storage-sizes.ts';
import type { Checker } from '../../src/testing/simulator/checkers/checker.ts';
import type { Profile, SimulationOptions } from '../../src/testing/simulator/options.ts';
import type { CheckerContext } from '../../src/testing/simulator/scenario.ts';
import { simulate as simulateIn } from '../../src/testing/simulator/simulation.ts';
import type { RunResult } from '../../src/testing/simulator/run-result.ts';
import type { SimulateOptions } from '../../src/testing/simulator/simulate-options.ts';
import { CHECKED_PARTS } from './checked-partitions.ts';
import type { InjectedBug } from './injected-bugs.ts';
import { getScenario } from './scenarios/index.ts';

/** How to run a seed, if not as its profile specifies. */
export interface SimulationSetup {
  readonly planted?: InjectedBug | undefined;
  /** Take the place of what is drawn. */
  readonly overrides?: Partial<SimulationOptions> | undefined;
  /** Creates checkers beside those of the service, such as one that records the run. */
  readonly createCheckers?: (context: CheckerContext) => readonly Checker[];
}

/**
 * Planted faults show in the service that they were thought up for, and may rely on what is
 * remembered there.
 */
const OF_PLANTED: Partial<SimulationOptions> = {
  scenario: 'classic',
  sessionTimeoutMs: 1000,
  maxWindowCommits: CERTIFIER_LIMITS.maxWindowCommits,
  maxIdentifiers: ID_TABLE_LIMITS.maxOperations,
  maxOperationsPerClient: ID_TABLE_LIMITS.maxOperationsPerClient ?? Infinity,
  maxReplyBytes: ID_TABLE_LIMITS.maxBytes ?? Infinity,
  maxRedInFlight: Infinity,
  maxMemoryBytes: Infinity,
  digestPlaces: 1024,
  // Comparisons of rows would notice many faults before the checker that is to be proven.
  compareIntervalMs: Infinity,
  etcdMarkEvery: 4,
  etcdPageGroups: 8,
  ...DEFAULT_MACHINE_SIZES,
  ...DEFAULT_STORAGE_SIZES,
};

/** How the simulator runs it. */
export function createSetup({
  planted,
  overrides,
  createCheckers,
}: SimulationSetup): SimulateOptions {
  return {
    scenario: (options, seed) => {
      const scenario = getScenario(options, seed, planted?.service);
      if (createCheckers === undefined) return scenario;
      return {
        ...scenario,
        checkers: (context) => [...createCheckers(context), ...scenario.checkers(context)],
      };
    },
    overrides: { ...(planted && OF_PLANTED), ...planted?.overrides, ...overrides },
    parts: planted?.parts ?? CHECKED_PARTS,
  };
}

/** Runs one seed. */
export function simulate(
  seed: number,
  profile: Profile = 'swarm',
  value: SimulationSetup = {},
): RunResult {
  return simulateIn(seed, profile, createSetup(value));
}

/** Options as `formatOverrides` writes them. */
export function parseOverrides(text: string): Partial<SimulationOptions> {
  const parsed: unknown = JSON.parse(text, (_, value: unknown) =>
    value === 'Infinity' ? Infinity : value,
  );
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  throw new Error(`--with must be an object of options, such as '{"siteCount":2}', not ${text}`);
}
