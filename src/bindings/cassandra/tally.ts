/** What came of the reads of a binding: how often early views were right, and finals known to be stale. */
import { structurallyEqual } from '../../correctable/equal.ts';
import type { Meaning, ShownObject } from './plan.ts';
import { VersionsSeen } from './versions-seen.ts';

/** Counts over the life of a binding. */
export interface ReadCounts {
  /** Final views at the strongest level. */
  readonly finals: number;
  /** Of those, how many had a preliminary view before them. */
  readonly withPreliminary: number;
  /** Of those, how many were of another value. */
  readonly diverged: number;
  /** Of those, how many were older: one replica had a write that the others had not, and that was not answered yet. */
  readonly regressed: number;
  /**
   * Finals of `get` and `getMany` older than what this binding had written, or shown in a final view, before they were
   * asked for. At level `strong` more than 0 means that others write with less than they should.
   */
  readonly staleFinals: number;
}

const OBJECTS_MAX = 10_000;

type Counts = { -readonly [K in keyof ReadCounts]: number };

export class Tally {
  readonly #seen = new VersionsSeen(OBJECTS_MAX);
  readonly #counts: Counts = { finals: 0, withPreliminary: 0, diverged: 0, regressed: 0, staleFinals: 0 };

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
  }

  final(meaning: Meaning): void {
    this.#counts.finals++;
    if (this.#preliminary !== undefined) this.#compare(this.#preliminary, meaning);
    if (this.#isStale(meaning)) this.#counts.staleFinals++;
    meaning.objects?.forEach((object) => this.#seen.learn(object));
  }

  #compare(early: Meaning, final: Meaning): void {
    this.#counts.withPreliminary++;
    if (early === final || structurallyEqual(early.value, final.value)) return;
    this.#counts.diverged++;
    if (early.version !== undefined && final.version !== undefined && final.version < early.version) {
      this.#counts.regressed++;
    }
  }

  #isStale({ objects }: Meaning): boolean {
    if (this.#floors.length === 0 || objects === undefined) return false;
    const shown = new Map(objects.map((object) => [object.id, object.version]));
    return this.#floors.some(({ id, version: floor = 0 }) => (shown.get(id) ?? -Infinity) < floor);
  }
}
