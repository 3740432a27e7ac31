/**
 * Where conditions end: the values of counters beyond which something does not hold. A hall of a thousand seats is never
 * full in a run, but a state in which it is can be made.
 */

/** So often is each counter looked at, since edges may depend on what else a row has. */
const LOOKS_MAX = 6;
/** Further than this from where a look begins nobody looks: a condition may go through as many steps. */
const FAR = 2 ** 20;
const KEPT_MAX = 16;

/** Edges by the counters that they are of. */
export class Edges {
  readonly #known = new Map<string, number[]>();
  readonly #looks = new Map<string, number>();

  /** The last values that were found to hold. */
  of(counter: string): readonly number[] {
    return this.#known.get(counter) ?? [];
  }

  /** Looks up and down from a value that holds. */
  look(counter: string, from: number, holds: (value: number) => boolean): void {
    const looks = this.#looks.get(counter) ?? 0;
    if (looks >= LOOKS_MAX) return;
    this.#looks.set(counter, looks + 1);
    const known = this.#known.get(counter) ?? [];
    this.#known.set(counter, known);
    for (const sign of [1, -1]) {
      const edge = edgeFrom(from, sign, holds);
      if (edge !== undefined && known.length < KEPT_MAX && !known.includes(edge)) known.push(edge);
    }
  }
}

/** The last value in this direction that holds; `undefined` where there is none near. */
function edgeFrom(from: number, sign: number, holds: (value: number) => boolean): number | undefined {
  let inside = 0;
  let outside = 1;
  while (holds(from + sign * outside)) {
    if (outside >= FAR) return undefined;
    inside = outside;
    outside *= 2;
  }
  while (outside - inside > 1) {
    const middle = Math.floor((inside + outside) / 2);
    if (holds(from + sign * middle)) inside = middle;
    else outside = middle;
  }
  return from + sign * inside;
}
