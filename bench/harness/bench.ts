/** The interface of a benchmark, and its report. */
import type { GoalResult } from './goals.ts';

export interface Outcome {
  /** The name of the results file. Default: that of the benchmark */
  readonly name?: string;
  readonly rounds: number;
  /** One row for each contender or setting, as plain data. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly bars: readonly GoalResult[];
  /** The versions of the other measured software: engines and drivers. */
  readonly versions?: Readonly<Record<string, string>>;
  /** The flags of Node for the measured processes. */
  readonly flags?: readonly string[];
  /** Every sample taken, for `bench/results/`. */
  readonly samples: unknown;
}

export interface Settings {
  /** Whether to run fewer and shorter rounds, to try the benchmark. */
  readonly quick: boolean;
  readonly binding: string | undefined;
  /** The read strategy, if there are several. */
  readonly way: number | undefined;
  readonly history: string | undefined;
  /** The number of connections of `crowd`. */
  readonly connections: number | undefined;
  /** The directory of another checkout, which is measured in the same rounds. */
  readonly beside: string | undefined;
  /** Progress for a person, on stderr. */
  readonly progress: (text: string) => void;
}

/** Options of some benchmarks. */
export type Choice = 'binding' | 'way' | 'history' | 'connections' | 'beside';

export interface Bench {
  readonly name: string;
  readonly about: string;
  /** The optional options that the benchmark accepts. Default: none */
  readonly takes?: readonly Choice[];
  run(settings: Settings): Promise<Outcome>;
}
