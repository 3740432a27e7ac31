/** What a benchmark is and what it reports. */

/** A figure with a goal. A goal that is missed is reported, never hidden. */
export interface Bar {
  readonly name: string;
  readonly value: number;
  /** `ratio`, `fraction`, `bytes`, `ms`… */
  readonly unit: string;
  /** The goal as a number; null where there is none. */
  readonly aim: number | null;
  /** Whether the goal is met; null where there is none. */
  readonly ok: boolean | null;
}

/** Median with its range over the rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface Outcome {
  /** The name of the results file, where it is not the benchmark's. */
  readonly name?: string;
  readonly rounds: number;
  /** One row a contender or setting, as plain data. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly bars: readonly Bar[];
  /** Every sample taken, for `bench/results/`. */
  readonly samples: unknown;
  /** Plots by file name without ending, as SVG text, for `docs/figures/`. */
  readonly figures: Readonly<Record<string, string>>;
}

export interface Settings {
  /** Fewer and shorter rounds, for trying out. */
  readonly quick: boolean;
  readonly binding: string | undefined;
  /** Which way to reach the store, where there are several. */
  readonly way: number | undefined;
  readonly history: string | undefined;
  /** Progress for a person, on stderr. */
  readonly progress: (text: string) => void;
}

export interface Bench {
  readonly name: string;
  readonly about: string;
  run(settings: Settings): Promise<Outcome>;
}

/** A bar whose value must not exceed its aim. */
export function atMost(name: string, value: number, aim: number, unit = 'ratio'): Bar {
  return { name, value, unit, aim, ok: value <= aim };
}

/** A bar whose value must reach its aim. */
export function atLeast(name: string, value: number, aim: number, unit = 'ratio'): Bar {
  return { name, value, unit, aim, ok: value >= aim };
}

/** A bar that is reported without a goal. */
export function reported(name: string, value: number, unit = 'ratio'): Bar {
  return { name, value, unit, aim: null, ok: null };
}
