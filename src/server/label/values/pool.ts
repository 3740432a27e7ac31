/** Values that stand in a run already, by the names of what has them: drawn again, they make operations meet. */

/** So many of one name: the first ones, which are met most often. */
const KEPT_MAX = 16;
/** Values lie in each other so deep at most. */
const DEPTH_MAX = 8;

/** Texts and numbers by the names of the properties or fields that had them. */
export class Pool {
  readonly #texts = new Map<string, string[]>();
  readonly #numbers = new Map<string, number[]>();

  /** Notes all texts and numbers in a value under the name of what has it; those in objects under their own. */
  note(name: string, value: unknown, depth = 0): void {
    if (typeof value === 'string') keep(this.#texts, name, value);
    else if (typeof value === 'number') keep(this.#numbers, name, value);
    else if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return;
    else if (Array.isArray(value)) for (const each of value) this.note(name, each, depth + 1);
    else for (const [inner, each] of Object.entries(value)) this.note(inner, each, depth + 1);
  }

  /** What was noted under the name; of all names where none is given. */
  texts(name?: string): readonly string[] {
    return of(this.#texts, name);
  }

  /** As `texts`. */
  numbers(name?: string): readonly number[] {
    return of(this.#numbers, name);
  }
}

function keep<T>(kept: Map<string, T[]>, name: string, value: T): void {
  let values = kept.get(name);
  if (values === undefined) {
    values = [];
    kept.set(name, values);
  }
  if (values.length < KEPT_MAX && !values.includes(value)) values.push(value);
}

function of<T>(kept: ReadonlyMap<string, readonly T[]>, name: string | undefined): readonly T[] {
  return name === undefined ? [...kept.values()].flat() : (kept.get(name) ?? []);
}
