/** Runs of the worlds that are known here, with or without a planted fault. */
import { ID_TABLE_LIMITS } from '../../src/server/replica/once/id-table.ts';
import { CERTIFIER_LIMITS } from '../../src/server/replica/red/certifier.ts';
import type { Profile, SimulationOptions } from '../../src/testing/simulator/options.ts';
import { simulate as simulateIn } from '../../src/testing/simulator/simulation.ts';
import type { RunResult, SimulateOptions } from '../../src/testing/simulator/simulation.ts';
import type { PlantedFault } from './planted.ts';
import { worldOf } from './worlds/index.ts';

/** How to run a seed otherwise than its profile says. */
export interface Given {
  readonly planted?: PlantedFault | undefined;
  /** Take the place of what is drawn. */
  readonly overrides?: Partial<SimulationOptions> | undefined;
}

/** Planted faults show in the service that they were thought up for, and may rely on what is remembered there. */
const OF_PLANTED: Partial<SimulationOptions> = {
  world: 'classic',
  sessionWaitMs: 1000,
  windowCommits: CERTIFIER_LIMITS.windowCommits,
  identifiersMax: ID_TABLE_LIMITS.operationsMax,
  perClientMax: ID_TABLE_LIMITS.perClientMax ?? Infinity,
  answerBytesMax: ID_TABLE_LIMITS.bytesMax ?? Infinity,
  redInFlightMax: Infinity,
};

/** How the simulator runs it. */
export function setupOf({ planted, overrides }: Given): SimulateOptions {
  return {
    world: ({ world }, seed) => worldOf(world, seed, planted?.service),
    overrides: { ...(planted && OF_PLANTED), ...planted?.overrides, ...overrides },
    parts: planted,
  };
}

/** Runs one seed. */
export function simulate(seed: number, profile: Profile = 'swarm', given: Given = {}): RunResult {
  return simulateIn(seed, profile, setupOf(given));
}
