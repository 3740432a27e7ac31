/** Values that stand in a run already, by the names of what has them: drawn again, they make operations meet. */

import type { Random } from '../../collections/random.ts';

/** So many of one name: the first ones, which are met most often. */
const KEPT_MAX = 16;
/** Values lie in each other so deep at most. */
const DEPTH_MAX = 8;

/** Texts and numbers by the names of the properties or fields that had them. */
export class Pool {
  readonly #texts = new Kept<string>();
  readonly #numbers = new Kept<number>();
  readonly #hasMany = new Map<string, boolean>();

  /** Notes all texts and numbers in a value under the name of what has it; those in objects under their own. */
  note(name: string, value: unknown, depth = 0): void {
    if (typeof value === 'string') this.#texts.keep(name, value);
    else if (typeof value === 'number') this.#numbers.keep(name, value);
    else if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return;
    else if (Array.isArray(value)) for (const each of value) this.note(name, each, depth + 1);
    else for (const [inner, each] of Object.entries(value)) this.note(inner, each, depth + 1);
  }

  /** What was noted under the name; of all names where none is given. */
  texts(name?: string): readonly string[] {
    return this.#texts.of(name);
  }

  /** Whether what has this name has one text or many in a narrow run: of groups few, of their members many, or otherwise. */
  hasMany(name: string, random: Random): boolean {
    const known = this.#hasMany.get(name) ?? random.chance(0.5);
    this.#hasMany.set(name, known);
    return known;
  }

  /** As `texts`. */
  numbers(name?: string): readonly number[] {
    return this.#numbers.of(name);
  }
}

/** Values by name. */
class Kept<T> {
  readonly #byName = new Map<string, T[]>();
  /** Those of all names, until there is one more: they are drawn from more often than noted. */
  #all: readonly T[] | undefined;

  keep(name: string, value: T): void {
    let values = this.#byName.get(name);
    if (values === undefined) {
      values = [];
      this.#byName.set(name, values);
    }
    if (values.length >= KEPT_MAX || values.includes(value)) return;
    values.push(value);
    this.#all = undefined;
  }

  of(name: string | undefined): readonly T[] {
    if (name !== undefined) return this.#byName.get(name) ?? [];
    if (this.#all === undefined) {
      // Not by `flat`, which takes several times as long.
      const all: T[] = [];
      for (const values of this.#byName.values()) for (const value of values) all.push(value);
      this.#all = all;
    }
    return this.#all;
  }
}
