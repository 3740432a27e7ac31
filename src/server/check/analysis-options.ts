/** The options of an analysis of colors. */
import type { Principal } from '../../correctable/binding.ts';
import {
  anyValue,
  callback,
  integer,
  matches,
  optional,
  type OptionsOf,
} from '../../correctable/options.ts';
import { isRecord } from '../../correctable/validate.ts';
import type { Arbitraries } from './values/argument-generator.ts';

/** Options of `analyzeColors`. */
export interface ColorAnalysisOptions {
  /**
   * Number of runs. They take from seconds to a minute or more. The time depends on the number of
   * writes, on how much a generator reads, and on the conditions of `snapshotInvariants`, which run
   * after each operation. Default: 10 000
   */
  readonly runs?: number;
  /** Seed of the first run. Each further run adds 1. Default: 1 */
  readonly seed?: number;
  /**
   * Functions that draw arguments if the contract's schemas alone are not enough. Refused arguments
   * are drawn again.
   *
   * @example
   * arbitraries: {
   *   withdraw: ({ pick, between }) => ({
   *     account: pick(['a', 'b']),
   *     cents: between(1, 3),
   *   }),
   * }
   */
  readonly arbitraries?: Arbitraries;
  /**
   * The users for whom operations are executed in turn, if generators read `principal`. Default:
   * `[{ id: 'ada' }, { id: 'bob' }]`
   */
  readonly principals?: readonly Principal[];
  /** Number of user requests of the application, for the table of the report. */
  readonly requests?: number;
  /** Called before each run with the number of completed runs. Return `false` to stop. */
  readonly shouldContinue?: (made: number) => boolean;
}

export const ANALYSIS_CALL = 'analyzeColors(service, { runs: 10_000, seed: 1 })';

export const ANALYSIS_OPTIONS = {
  // Enough runs to try each pair of operations often.
  runs: optional(integer(), 10_000),
  seed: optional(anyValue, 1),
  arbitraries: optional(
    matches(isRecord, 'write { arbitraries: { withdraw: ({ pick }) => ({ … }) } }'),
  ),
  principals: optional(anyValue),
  requests: optional(integer({ min: 0 })),
  shouldContinue: optional(callback),
} satisfies OptionsOf<ColorAnalysisOptions>;
