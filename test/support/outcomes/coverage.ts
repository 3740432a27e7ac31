/** What schedules have led to: a property that never saw what it is about proves nothing. */

export class Coverage {
  readonly #counts = new Map<string, number>();

  saw(description: string): void {
    this.#counts.set(description, (this.#counts.get(description) ?? 0) + 1);
  }

  times(description: string): number {
    return this.#counts.get(description) ?? 0;
  }

  /** Which of these so many runs have led to less often than so often in a thousand. */
  seldom(perThousand: Readonly<Record<string, number>>, runs: number): string[] {
    return Object.keys(perThousand).filter(
      (description) => this.times(description) < ((perThousand[description] ?? 0) * runs) / 1_000,
    );
  }

  toString(): string {
    return [...this.#counts].map(([description, count]) => `${description}: ${count}`).join(', ');
  }
}
