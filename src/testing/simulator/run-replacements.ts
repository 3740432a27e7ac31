import type {
  createSiteFromShared,
  mergeSharedIntoSite,
} from '../../server/log/recovered-state.ts';
import type { RestorationSteps } from './cluster/restored-logs.ts';
import type { SimulationOptions } from './options.ts';
import type { RunParts } from './run-parts.ts';
import type { Scenario } from './scenario.ts';

/** Replacements of production code: parts with a fault, to check that the fault is found. */
export interface RunReplacements {
  /** Classes in the place of those of `RUN_PARTS`. */
  readonly parts?: Partial<RunParts> | undefined;
  readonly createSite?: typeof createSiteFromShared | undefined;
  readonly mergeSite?: typeof mergeSharedIntoSite | undefined;
  readonly restorationSteps?: Partial<RestorationSteps> | undefined;
}

/** How to run a seed. */
export interface SimulateOptions {
  /** The scenario of the run. A function creates it from the options of the run. */
  readonly scenario: Scenario | ((options: SimulationOptions, seed: number) => Scenario);
  /** Replace the options that the profile draws. */
  readonly overrides?: Partial<SimulationOptions> | undefined;
  readonly replacements?: RunReplacements | undefined;
}
