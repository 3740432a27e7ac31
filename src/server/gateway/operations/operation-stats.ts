/**
 * Counts how long views took, how operations ended, and whether preliminary views were right.
 * Counting must be cheap, so texts are formatted only when the figures are read.
 */
import { isCorrectableError, type ErrorCode } from '../../../correctable/errors.ts';
import { toKnownCode } from '../../../protocol/error-facts.ts';

/** Upper bounds of the buckets, in milliseconds. Times are counted in whole milliseconds. */
export const DURATION_BOUNDS_MS: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000,
];
/**
 * Without a contract, clients choose the names of operations. At most this many names have separate
 * statistics.
 */
const MAX_NAMES = 100;
/** The name for all other operations. No operation has such a name. */
const OTHER_OPERATIONS = '(other)';

/** How long views at one level took, since the operation arrived. */
export class DurationCounts {
  /**
   * The number of views by bucket: the first bound that is not below the time. The last count is
   * for times above all bounds.
   */
  readonly counts: number[] = Array.from({ length: DURATION_BOUNDS_MS.length + 1 }, () => 0);
  sumMs = 0;

  add(ms: number): void {
    let bucket = 0;
    while (ms > (DURATION_BOUNDS_MS[bucket] ?? Infinity)) bucket += 1;
    (this.counts[bucket] as number) += 1;
    this.sumMs += ms;
  }
}

/** The figures of the operations with one name. */
export class OperationFigures {
  readonly name: string;
  /** Views by the index of their level. */
  readonly durations: (DurationCounts | undefined)[] = [];
  /** Failures by the index of the level, and by code. */
  readonly failures: Map<ErrorCode, number>[] = [];
  /** Operations whose final view had the value of the last preliminary one. */
  confirmed = 0;
  /** Operations whose final view had another value than the last preliminary one. */
  corrected = 0;

  constructor(name: string) {
    this.name = name;
  }

  countView(level: number, ms: number): void {
    (this.durations[level] ??= new DurationCounts()).add(ms);
  }

  countFailure(level: number, error: unknown): void {
    const code = isCorrectableError(error) ? toKnownCode(error.code) : 'FINAL_FAILED';
    const codes = (this.failures[level] ??= new Map<ErrorCode, number>());
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }
}

export class OperationStats {
  readonly #byName = new Map<string, OperationFigures>();
  readonly #others = new OperationFigures(OTHER_OPERATIONS);
  /** Whether all names are known, from a contract. */
  readonly #isClosed: boolean;

  /** @param names the operations of the contract, if there is one */
  constructor(names: readonly string[] | undefined) {
    this.#isClosed = names !== undefined;
    for (const name of names ?? []) this.#byName.set(name, new OperationFigures(name));
  }

  /** The figures of all operations. */
  get all(): readonly OperationFigures[] {
    return [...this.#byName.values(), this.#others];
  }

  /**
   * Returns the figures for an operation that fails. A client may have made up its name, so no new
   * figures are created.
   */
  find(name: string): OperationFigures {
    return this.#byName.get(name) ?? this.#others;
  }

  /** Returns the figures for an operation that has a view, so the store knows its name. */
  open(name: string): OperationFigures {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    if (this.#isClosed || this.#byName.size >= MAX_NAMES) return this.#others;
    const figures = new OperationFigures(name);
    this.#byName.set(name, figures);
    return figures;
  }
}
