/** Counts names. */
export class NameCounts {
  readonly #counts = new Map<string, number>();

  has(name: string): boolean {
    return this.#counts.has(name);
  }

  get(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Counts the name once more, if there is one. */
  increment(name: string | undefined): void {
    if (name !== undefined) this.#counts.set(name, this.get(name) + 1);
  }

  decrement(name: string | undefined): void {
    if (name === undefined) return;
    const left = this.get(name) - 1;
    if (left > 0) this.#counts.set(name, left);
    else this.#counts.delete(name);
  }
}
