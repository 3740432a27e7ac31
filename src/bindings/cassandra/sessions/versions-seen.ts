/** The newest version of each object that was seen, of so many objects at most. */
import type { ShownObject } from '../plan.ts';

/** What is known of one object. */
export interface Sighting {
  readonly version: number;
  /** Tells its value from another one of the same version; `undefined` where nobody knows. */
  readonly content: string | undefined;
  /** It was not there any more: what was written up to `version` is gone. */
  readonly isGone: boolean;
}

export class VersionsSeen {
  readonly #max: number;
  readonly #sightings = new Map<string, Sighting>();
  #hasForgotten = false;

  constructor(max: number) {
    this.#max = max;
  }

  /** Whether there were more objects than are kept. */
  get hasForgotten(): boolean {
    return this.#hasForgotten;
  }

  of(id: string): Sighting | undefined {
    return this.#sightings.get(id);
  }

  /** The object was read. Of two values with one version the one seen last is the one that Cassandra keeps. */
  learn({ id, version, content }: ShownObject): void {
    const known = this.#sightings.get(id);
    if (version === undefined) return;
    if (known !== undefined && (known.isGone ? version <= known.version : version < known.version)) return;
    this.#keep(id, { version, content, isGone: false });
  }

  /** The object was written. A read that was under way meanwhile may have found it gone: it is there since. */
  learnWritten(object: ShownObject): void {
    if (this.#sightings.get(object.id)?.isGone === true) this.#sightings.delete(object.id);
    this.learn(object);
  }

  /** The object was surely not there: no version up to this one, nor up to one that was seen, is to be shown again. */
  learnGone(id: string, upTo: number): void {
    const version = Math.max(upTo, this.#sightings.get(id)?.version ?? -Infinity);
    this.#keep(id, { version, content: undefined, isGone: true });
  }

  clear(): void {
    this.#sightings.clear();
    this.#hasForgotten = false;
  }

  #keep(id: string, sighting: Sighting): void {
    this.#sightings.delete(id); // to the end: those seen last are kept
    this.#sightings.set(id, sighting);
    if (this.#sightings.size <= this.#max) return;
    const [oldest] = this.#sightings.keys();
    this.#sightings.delete(oldest as string);
    this.#hasForgotten = true;
  }
}

/**
 * Whether an object is shown as it was before it was seen: with an older version, or with the same one and another value.
 * The latter is of another writer who had the same time, and whose value Cassandra has kept.
 */
export function isOlder({ version, content }: ShownObject, seen: Sighting | undefined): boolean {
  if (seen === undefined || version === undefined) return false;
  if (version !== seen.version) return version < seen.version;
  return seen.isGone || (content !== undefined && seen.content !== undefined && content !== seen.content);
}
