/** Counts what schedules have led to. A property whose cases never occurred proves nothing. */

export class Coverage {
  readonly #counts = new Map<string, number>();

  saw(description: string): void {
    this.#counts.set(description, (this.#counts.get(description) ?? 0) + 1);
  }

  times(description: string): number {
    return this.#counts.get(description) ?? 0;
  }

  /**
   * Returns the cases that occurred less often than expected. `perThousand` has the expected number
   * for each case in a thousand runs.
   */
  seldom(perThousand: Readonly<Record<string, number>>, runs: number): string[] {
    return Object.keys(perThousand).filter(
      (description) => this.times(description) < ((perThousand[description] ?? 0) * runs) / 1_000,
    );
  }

  toString(): string {
    return [...this.#counts].map(([description, count]) => `${description}: ${count}`).join(', ');
  }
}
