/** What a check of a store of rows has found, and how far it has come. */

/** How much of a commit was checked, in entries of its orders. */
export interface CheckProgress {
  readonly checked: number;
  readonly total: number;
}

export interface CheckResult {
  /** The first problems. */
  readonly problems: readonly string[];
  /** The number of all problems. */
  readonly problemCount: number;
}

export class CheckReport implements CheckResult {
  readonly problems: string[] = [];
  problemCount = 0;
  readonly #maxProblems: number;

  constructor(maxProblems: number) {
    this.#maxProblems = maxProblems;
  }

  add(problem: string): void {
    this.problemCount += 1;
    if (this.problems.length < this.#maxProblems) this.problems.push(problem);
  }

  /**
   * Returns what `read` returns. If it throws, that is a problem, and the result is `undefined`.
   *
   * @param what names what is read, in case the error does not
   */
  try<T>(what: string, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      const { message } = error as Error;
      this.add(message.includes(what) ? message : `${what}: ${message}`);
      return undefined;
    }
  }
}
