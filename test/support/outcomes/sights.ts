/** What schedules have led to: a property that never saw what it is about proves nothing. */

export class Sights {
  readonly #counts = new Map<string, number>();

  saw(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  times(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  /** Which of these were never seen. */
  missing(wanted: readonly string[]): string[] {
    return wanted.filter((what) => !this.#counts.has(what));
  }

  toString(): string {
    return [...this.#counts].map(([what, count]) => `${what}: ${count}`).join(', ');
  }
}
