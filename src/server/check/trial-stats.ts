/** Counts what runs have tried, by shadow operation and the operation that chose it. */
import type { InvariantViolation } from './analysis-site.ts';
import type { RestoredRow } from './find-restored-row.ts';
import type { Violation } from './run-interleaving.ts';

/** The trials of one shadow operation that one operation chose. */
export interface Trial {
  readonly shadow: string;
  readonly operation: string;
  /** How often it was tried beside operations of another site. */
  trialCount: number;
  /** How often it was tried beside each shadow operation. */
  readonly partnerCounts: Map<string, number>;
  /** Why it can only be red, if no search is needed for that. */
  inherentRedReason?: string;
  localViolation?: FoundViolation;
  /** A violation of the kind `beside` or `differs`. */
  concurrentViolation?: FoundViolation;
}

/** A simplified violation, and the run that showed it. */
export interface FoundViolation {
  readonly violation: Violation;
  /** The seed of a run that shows it. */
  readonly seed: number;
}

/** Writes of one operation that bring back rows which another one removes. */
export interface RestoredRows {
  readonly first: RestoredRow;
  readonly lostFields: Set<string>;
  /** The seed of a run that shows the first one. */
  readonly seed: number;
  times: number;
}

/** A fault of a generator, or of its input. */
export interface GeneratorTrial extends TrialProblem {
  readonly operation: string;
  times: number;
}

/** What was found about a generator. */
export interface TrialProblem {
  /** Why the generator is wrong: it is not deterministic, or it changes its arguments. */
  readonly fault?: string;
  /** Why it could not be tried, or failed. */
  readonly problem?: string;
}

/**
 * How many errors of one operation are distinguished: their messages may contain any random value.
 */
const MAX_ERROR_KINDS = 5;
/**
 * The minimum number of runs of a generator before its failures are reported. With fewer runs, the
 * drawn arguments may be the reason. One interleaving may run a generator dozens of times.
 */
const MIN_SIGNIFICANT_RUNS = 100;
const OTHER_ERRORS = { problem: 'it failed in other ways too' };

export class TrialStats {
  readonly #trials = new Map<string, Trial>();
  readonly #generators = new Map<string, GeneratorTrial>();
  readonly #restoredRows = new Map<string, RestoredRows>();
  readonly #runs = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  /** The number of kinds of errors for each operation. */
  readonly #kinds = new Map<string, number>();
  /** The invariant that the initial state breaks, if any. */
  readonly initialViolation: InvariantViolation | undefined;

  constructor(brokenAtFirst?: InvariantViolation) {
    this.initialViolation = brokenAtFirst;
  }

  getTrial(shadow: string, operation: string): Trial {
    const name = JSON.stringify([shadow, operation]);
    let trial = this.#trials.get(name);
    if (trial === undefined) {
      trial = { shadow, operation, trialCount: 0, partnerCounts: new Map() };
      this.#trials.set(name, trial);
    }
    return trial;
  }

  /**
   * Records a run of a generator, and whether it failed with an error that its contract does not
   * declare.
   */
  noteRun(operation: string, hasFailed = false): void {
    this.#runs.set(operation, this.getRunCount(operation) + 1);
    if (hasFailed) this.#failures.set(operation, (this.#failures.get(operation) ?? 0) + 1);
  }

  getRunCount(operation: string): number {
    return this.#runs.get(operation) ?? 0;
  }

  /** Returns whether the generator failed in each of at least `MIN_SIGNIFICANT_RUNS` runs. */
  hasAlwaysFailed(operation: string): boolean {
    const runs = this.getRunCount(operation);
    return runs >= MIN_SIGNIFICANT_RUNS && this.#failures.get(operation) === runs;
  }

  get trials(): readonly Trial[] {
    return [...this.#trials.values()];
  }

  /** Records a finding, or counts it once more. */
  noteGenerator(operation: string, description: TrialProblem): void {
    const name = JSON.stringify([operation, description]);
    const known = this.#generators.get(name);
    if (known !== undefined) {
      known.times += 1;
      return;
    }
    const kinds = this.#kinds.get(operation) ?? 0;
    if (kinds >= MAX_ERROR_KINDS && description.fault === undefined && description !== OTHER_ERRORS)
      return this.noteGenerator(operation, OTHER_ERRORS);
    this.#kinds.set(operation, kinds + 1);
    this.#generators.set(name, { operation, ...description, times: 1 });
  }

  noteRestoredRow(found: RestoredRow, seed: number): void {
    const { writer, remover, table, lostFields } = found;
    const name = JSON.stringify([
      table,
      ...[writer, remover].flatMap(({ shadow, step }) => [shadow, step.operation]),
    ]);
    const known = this.#restoredRows.get(name);
    if (known === undefined)
      this.#restoredRows.set(name, {
        first: found,
        lostFields: new Set(lostFields),
        seed,
        times: 1,
      });
    else {
      known.times += 1;
      for (const field of lostFields) known.lostFields.add(field);
    }
  }

  get restoredRows(): readonly RestoredRows[] {
    return [...this.#restoredRows.values()];
  }

  get generators(): readonly GeneratorTrial[] {
    return [...this.#generators.values()];
  }
}
