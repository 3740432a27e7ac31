/** What came of the reads of a binding: how often early views were right, and finals known to be stale. */
import { structurallyEqual } from '../../correctable/equal.ts';
import type { Meaning, ShownObject } from './plan.ts';
import { VersionsSeen } from './versions-seen.ts';

/** Counts over the life of a binding. */
export interface ReadCounts {
  /** Final views. */
  readonly finals: number;
  /** Of those, how many had a preliminary view before them. */
  readonly withPreliminary: number;
  /** Of those, how many were of another value. */
  readonly diverged: number;
  /**
   * Finals older than what this binding had written or shown before they were asked for, as far as times of writing
   * tell: of `get` and `getMany`, and of statements with a version against their own preliminary view. At level `strong`
   * more than 0 means that others write with less than they should.
   */
  readonly staleFinals: number;
}

const OBJECTS_MAX = 10_000;

type Counts = { -readonly [K in keyof ReadCounts]: number };

export class Tally {
  readonly #seen = new VersionsSeen(OBJECTS_MAX);
  readonly #counts: Counts = { finals: 0, withPreliminary: 0, diverged: 0, staleFinals: 0 };

  get counts(): ReadCounts {
    return { ...this.#counts };
  }

  /** A read of these objects begins: what is known of them by now its final view must show. */
  begin(ids: readonly string[]): ReadTally {
    const floors: ShownObject[] = [];
    for (const id of ids) {
      const version = this.#seen.versionOf(id);
      if (version !== undefined) floors.push({ id, version });
    }
    return new ReadTally(this.#counts, this.#seen, floors);
  }

  /** An update was made. */
  learn({ objects }: Meaning): void {
    objects?.forEach((object) => this.#seen.learn(object));
  }
}

/** One read in the books. */
export class ReadTally {
  readonly #counts: Counts;
  readonly #seen: VersionsSeen;
  readonly #floors: readonly ShownObject[];
  #preliminary: Meaning | undefined;

  constructor(counts: Counts, seen: VersionsSeen, floors: readonly ShownObject[]) {
    this.#counts = counts;
    this.#seen = seen;
    this.#floors = floors;
  }

  preliminary(meaning: Meaning): void {
    this.#preliminary = meaning;
    this.#learn(meaning);
  }

  final(meaning: Meaning): void {
    const early = this.#preliminary;
    this.#counts.finals++;
    if (early !== undefined) {
      this.#counts.withPreliminary++;
      if (early !== meaning && !structurallyEqual(early.value, meaning.value)) this.#counts.diverged++;
    }
    if (this.#isStale(meaning)) this.#counts.staleFinals++;
    this.#learn(meaning);
  }

  #isStale({ version, objects }: Meaning): boolean {
    const early = this.#preliminary?.version;
    if (early !== undefined && version !== undefined && version < early) return true;
    if (this.#floors.length === 0 || objects === undefined) return false;
    const shown = new Map(objects.map((object) => [object.id, object.version]));
    return this.#floors.some(({ id, version: floor = 0 }) => (shown.get(id) ?? -Infinity) < floor);
  }

  #learn({ objects }: Meaning): void {
    objects?.forEach((object) => this.#seen.learn(object));
  }
}
