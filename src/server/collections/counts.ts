/** How many there are of each name. */
export class Counts {
  readonly #counts = new Map<string, number>();

  has(name: string): boolean {
    return this.#counts.has(name);
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** One more of the name, if there is one. */
  add(name: string | undefined): void {
    if (name !== undefined) this.#counts.set(name, this.of(name) + 1);
  }

  /** One less. */
  take(name: string | undefined): void {
    if (name === undefined) return;
    const left = this.of(name) - 1;
    if (left > 0) this.#counts.set(name, left);
    else this.#counts.delete(name);
  }
}
