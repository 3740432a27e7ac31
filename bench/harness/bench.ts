/** What a benchmark is and what it reports. */
import type { GoalResult } from './goals.ts';

export interface Outcome {
  /** The name of the results file, where it is not the benchmark's. */
  readonly name?: string;
  readonly rounds: number;
  /** One row a contender or setting, as plain data. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly bars: readonly GoalResult[];
  /** What was measured beside this package: engines and drivers with their versions. */
  readonly versions?: Readonly<Record<string, string>>;
  /** Those of Node that it was measured with. */
  readonly flags?: readonly string[];
  /** Every sample taken, for `bench/results/`. */
  readonly samples: unknown;
}

export interface Settings {
  /** Fewer and shorter rounds, for trying out. */
  readonly quick: boolean;
  readonly binding: string | undefined;
  /** Which way to reach the store, where there are several. */
  readonly way: number | undefined;
  readonly history: string | undefined;
  /** How many connections a crowd has. */
  readonly connections: number | undefined;
  /** Another checkout, measured in the same rounds. */
  readonly beside: string | undefined;
  /** Progress for a person, on stderr. */
  readonly progress: (text: string) => void;
}

/** Options of some benchmarks. */
export type Choice = 'binding' | 'way' | 'history' | 'connections' | 'beside';

export interface Bench {
  readonly name: string;
  readonly about: string;
  /** Which of the options that not all have it goes by; none unless given. */
  readonly takes?: readonly Choice[];
  run(settings: Settings): Promise<Outcome>;
}
