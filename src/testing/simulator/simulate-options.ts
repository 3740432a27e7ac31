import type { SimulationOptions } from './options.ts';
import type { RunParts } from './run-parts.ts';
import type { Scenario } from './scenario.ts';

/** How to run a seed. */
export interface SimulateOptions {
  /** The scenario of the run. A function creates it from the options of the run. */
  readonly scenario: Scenario | ((options: SimulationOptions, seed: number) => Scenario);
  /** Replace the options that the profile draws. */
  readonly overrides?: Partial<SimulationOptions> | undefined;
  /** Parts in the place of those of `RUN_PARTS`. */
  readonly parts?: Partial<RunParts> | undefined;
}
