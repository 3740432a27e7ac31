/** What the runs have gone through, by shadow operation and the operation that chose it. */
import type { Broken } from './site.ts';
import type { Breach } from './run-meeting.ts';

/** Of one shadow operation, chosen by one operation. */
export interface Trial {
  readonly shadow: string;
  readonly operation: string;
  /** How often it was held against what another site did. */
  tried: number;
  /** Beside which shadow operations, and how often. */
  readonly beside: Map<string, number>;
  /** Why it can be red alone, where that needs no looking for. */
  redByItself: string | undefined;
  alone: Found | undefined;
  /** `beside` or `differs`. */
  together: Found | undefined;
}

/** A breach, shrunken, and the run that showed it. */
export interface Found {
  readonly breach: Breach;
  /** A run with this seed shows it. */
  readonly seed: number;
}

/** A fault of a generator, or of what goes into it. */
export interface GeneratorTrial {
  readonly operation: string;
  /** It is wrong in itself: not the same when it runs again, or changes its arguments. */
  readonly fault?: string;
  /** It could not be tried, or failed. */
  readonly trouble?: string;
  times: number;
}

/** So many are told apart of one operation: texts of errors may name whatever was drawn. */
const KINDS_MAX = 5;
/** Of fewer runs it may be what was drawn for them: one meeting has up to dozens. */
const TELLING_RUNS = 100;
const OTHERS = { trouble: 'it failed in other ways too' };

/** All trials. */
export class Tally {
  readonly #trials = new Map<string, Trial>();
  readonly #generators = new Map<string, GeneratorTrial>();
  readonly #runs = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  /** How many of them there are of each operation. */
  readonly #kinds = new Map<string, number>();
  /** What does not hold before anything was done, if anything. */
  readonly brokenAtFirst: Broken | undefined;

  constructor(brokenAtFirst?: Broken) {
    this.brokenAtFirst = brokenAtFirst;
  }

  trialOf(shadow: string, operation: string): Trial {
    const name = JSON.stringify([shadow, operation]);
    let trial = this.#trials.get(name);
    if (trial === undefined) {
      trial = {
        shadow,
        operation,
        tried: 0,
        beside: new Map(),
        redByItself: undefined,
        alone: undefined,
        together: undefined,
      };
      this.#trials.set(name, trial);
    }
    return trial;
  }

  /** That a generator was run on what was drawn, and whether it failed: by no error that its contract declares. */
  noteRun(operation: string, hasFailed = false): void {
    this.#runs.set(operation, this.timesRun(operation) + 1);
    if (hasFailed) this.#failures.set(operation, (this.#failures.get(operation) ?? 0) + 1);
  }

  timesRun(operation: string): number {
    return this.#runs.get(operation) ?? 0;
  }

  /** Whether it failed in each of its runs, and these were some. */
  hasAlwaysFailed(operation: string): boolean {
    const runs = this.timesRun(operation);
    return runs >= TELLING_RUNS && this.#failures.get(operation) === runs;
  }

  get trials(): readonly Trial[] {
    return [...this.#trials.values()];
  }

  /** One more time the same of an operation. */
  noteGenerator(operation: string, what: Pick<GeneratorTrial, 'fault' | 'trouble'>): void {
    const name = JSON.stringify([operation, what]);
    const known = this.#generators.get(name);
    if (known !== undefined) {
      known.times += 1;
      return;
    }
    const kinds = this.#kinds.get(operation) ?? 0;
    if (kinds >= KINDS_MAX && what.fault === undefined && what !== OTHERS) return this.noteGenerator(operation, OTHERS);
    this.#kinds.set(operation, kinds + 1);
    this.#generators.set(name, { operation, ...what, times: 1 });
  }

  get generators(): readonly GeneratorTrial[] {
    return [...this.#generators.values()];
  }
}
