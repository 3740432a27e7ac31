/** What came of the reads of a binding: how often early views were right, and finals known to be stale. */
import { structurallyEqual } from '../../../correctable/equal.ts';
import type { Meaning } from '../plan.ts';
import { isOlder, VersionsSeen, type Sighting } from './versions-seen.ts';

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
   * asked for; or of the same time with another value. Of what is not there any more nobody can tell: it is not counted.
   * At level `strong` more than 0 means that others write with less than they should, or at the very same microsecond.
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
    return new ReadTally(this.#counts, this.#seen, this.#seen.floorsOf(ids));
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
  readonly #floors: ReadonlyMap<string, Sighting>;
  #preliminary: Meaning | undefined;

  constructor(counts: Counts, seen: VersionsSeen, floors: ReadonlyMap<string, Sighting>) {
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
    return objects?.some((object) => isOlder(object, this.#floors.get(object.id))) === true;
  }
}
