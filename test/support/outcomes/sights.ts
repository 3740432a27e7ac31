/** What schedules have led to: a property that never saw what it is about proves nothing. */

export class Sights {
  readonly #counts = new Map<string, number>();

  saw(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  times(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  /** Which of these so many runs have led to less often than so often in a thousand. */
  seldom(perThousand: Readonly<Record<string, number>>, runs: number): string[] {
    return Object.keys(perThousand).filter((what) => this.times(what) < ((perThousand[what] ?? 0) * runs) / 1_000);
  }

  toString(): string {
    return [...this.#counts].map(([what, count]) => `${what}: ${count}`).join(', ');
  }
}
