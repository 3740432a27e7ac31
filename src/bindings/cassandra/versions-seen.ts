/** The newest version of each object that was seen, of so many objects at most. */
import type { ShownObject } from './plan.ts';

export class VersionsSeen {
  readonly #max: number;
  readonly #versions = new Map<string, number>();
  #hasForgotten = false;

  constructor(max: number) {
    this.#max = max;
  }

  /** Whether there were more objects than are kept. */
  get hasForgotten(): boolean {
    return this.#hasForgotten;
  }

  knows(id: string): boolean {
    return this.#versions.has(id);
  }

  versionOf(id: string): number | undefined {
    return this.#versions.get(id);
  }

  /** Whether a newer version of the object was seen; one that is not there is older than any. */
  isBehind({ id, version = -Infinity }: ShownObject): boolean {
    return version < (this.#versions.get(id) ?? -Infinity);
  }

  learn(object: ShownObject): void {
    const { id, version } = object;
    if (version === undefined || this.isBehind(object)) return;
    this.#versions.delete(id); // to the end: those seen last are kept
    this.#versions.set(id, version);
    if (this.#versions.size <= this.#max) return;
    const [oldest] = this.#versions.keys();
    this.#versions.delete(oldest as string);
    this.#hasForgotten = true;
  }

  clear(): void {
    this.#versions.clear();
    this.#hasForgotten = false;
  }
}
