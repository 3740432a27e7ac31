/**
 * What truly happened to the objects of the store: one line of writes, every one with a number of
 * its own.
 */
import { OBJECTS, READS, type ObjectName, type ReadKind, type Shown } from './operations.ts';

/** How the store behind orders two views. */
export const VERSIONINGS = [
  'none',
  'object',
  'global',
  'operation',
  'tag',
  'strong',
  'class',
] as const;
/**
 * `object`: counts the writes of the objects that are read. `global`: counts all writes.
 * `operation`: as `object`, but from another start for each operation. `tag`: has no order.
 * `strong`: as `object`, at the strongest level alone. `class`: as `object`, in a class that no
 * store of a cache keeps.
 */
export type Versioning = (typeof VERSIONINGS)[number];

/** A version with an order of its own, which throws where it is asked of anything else. */
export class Count {
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  isBefore(other: Count): boolean {
    return this.#count < other.#count;
  }
}

interface Write {
  readonly number: number;
  /** The moment of the write: how many steps the history had then, this one included. */
  readonly at: number;
  /** How the store counts it: starts again lower after it was restored from a backup. */
  readonly count: number;
}

export class History {
  readonly #writes: Record<ObjectName, Write[]> = { a: [], b: [], card: [] };
  readonly #places = new Map<number, { readonly object: ObjectName; readonly at: number }>();
  /** By moment: what the store counts of all its writes. */
  readonly #global: number[] = [0];
  #lastNumber = 0;
  /** When the store was last restored from a backup; 0 if never. */
  restoredAt = 0;

  constructor() {
    this.write(OBJECTS.map((object) => [object, this.number()]));
  }

  /** The newest state. */
  get now(): number {
    return this.#global.length - 1;
  }

  /** Returns a number for a later write. */
  number(): number {
    return ++this.#lastNumber;
  }

  /** Executes a write of several objects at once. */
  write(objects: readonly (readonly [ObjectName, number])[]): void {
    this.#step(objects, 1, 1);
  }

  /** The store is lost and restored from a backup, with other values and lower versions. */
  restoreBackup(): void {
    const { objects } = READS.find(({ name }) => name === 'row')!;
    this.#step(
      objects.map((object) => [object, this.number()]),
      -2,
      -4,
    );
    this.restoredAt = this.now;
  }

  /** Returns what a read sees of the state at a moment. */
  shown({ name, objects }: ReadKind, at: number, by: string): Shown {
    return {
      by,
      read: name,
      seen: Object.fromEntries(objects.map((object) => [object, this.#last(object, at).number])),
    };
  }

  /**
   * Returns the object and the moment at which a number was written, or `undefined` if it was never
   * written.
   */
  placeOf(number: number): { readonly object: ObjectName; readonly at: number } | undefined {
    return this.#places.get(number);
  }

  /** Returns the version that the store gives to a read at a moment. */
  version(versioning: Versioning, read: ReadKind, at: number, level: string): unknown {
    const count = read.objects.reduce((sum, object) => sum + this.#last(object, at).count, 0);
    switch (versioning) {
      case 'none':
        return undefined;
      case 'object':
        return count;
      case 'global':
        return this.#global[at];
      case 'operation':
        return count + 1_000 * READS.indexOf(read);
      case 'tag':
        return read.objects.map((object) => this.#last(object, at).number).join('.');
      case 'strong':
        return level === 'strong' ? count : undefined;
      case 'class':
        return new Count(count);
    }
  }

  #step(objects: readonly (readonly [ObjectName, number])[], by: number, globalBy: number): void {
    const at = this.#global.push((this.#global.at(-1) ?? 0) + globalBy) - 1;
    for (const [object, number] of objects) {
      const count = (this.#writes[object].at(-1)?.count ?? 0) + by;
      this.#writes[object].push({ number, at, count });
      this.#places.set(number, { object, at });
    }
  }

  #last(object: ObjectName, at: number): Write {
    return this.#writes[object].findLast((write) => write.at <= at)!;
  }
}
