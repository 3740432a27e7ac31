/**
 * Statistics of the reads of a binding: how often preliminary views were right, and which finals
 * are known to be stale.
 */
import { structurallyEqual } from '../../../correctable/structural-equality.ts';
import type { ReadResult } from '../statement-plan.ts';
import { isOlder, SeenVersions, type SeenVersion } from './seen-versions.ts';

/** Counts over the life of a binding. */
export interface ReadStats {
  /** Number of final views at the strongest level. */
  readonly finals: number;
  /** How many of `finals` had a preliminary view before them. */
  readonly withPreliminary: number;
  /** How many of `withPreliminary` had another value than their preliminary view. */
  readonly diverged: number;
  /**
   * How many of `diverged` were older: one replica had a write that the others lacked, not
   * acknowledged yet.
   */
  readonly regressed: number;
  /**
   * Stale final views of `get` and `getMany`. Before such a read began, this binding had written or
   * shown a newer value, or another value of the same time. Removed values are not counted, because
   * nothing shows their age. At level `strong`, more than 0 means that other clients write with a
   * lower consistency, or at the same microsecond.
   */
  readonly staleFinals: number;
}

const MAX_OBJECTS = 10_000;

type MutableReadStats = { -readonly [K in keyof ReadStats]: number };

export class ReadStatsCollector {
  readonly #seenVersions = new SeenVersions(MAX_OBJECTS);
  readonly #stats: MutableReadStats = {
    finals: 0,
    withPreliminary: 0,
    diverged: 0,
    regressed: 0,
    staleFinals: 0,
  };

  get stats(): ReadStats {
    return { ...this.#stats };
  }

  /**
   * Begins a read of these objects. Its final view must show the versions that are known by now.
   */
  beginRead(ids: readonly string[]): ReadObservation {
    return new ReadObservation(this.#stats, this.#seenVersions, this.#seenVersions.getSeen(ids));
  }

  recordWrite({ objects }: ReadResult): void {
    objects?.forEach((object) => this.#seenVersions.learn(object));
  }
}

export class ReadObservation {
  readonly #stats: MutableReadStats;
  readonly #seenVersions: SeenVersions;
  readonly #seen: ReadonlyMap<string, SeenVersion>;
  preliminary: ReadResult | undefined;

  constructor(
    counts: MutableReadStats,
    seen: SeenVersions,
    seenVersions: ReadonlyMap<string, SeenVersion>,
  ) {
    this.#stats = counts;
    this.#seenVersions = seen;
    this.#seen = seenVersions;
  }

  recordFinal(meaning: ReadResult): void {
    this.#stats.finals++;
    if (this.preliminary !== undefined) this.#compare(this.preliminary, meaning);
    const isStale = meaning.objects?.some((object) => isOlder(object, this.#seen.get(object.id)));
    if (isStale === true) this.#stats.staleFinals++;
    meaning.objects?.forEach((object) => this.#seenVersions.learn(object));
  }

  #compare(early: ReadResult, final: ReadResult): void {
    this.#stats.withPreliminary++;
    if (early === final || structurallyEqual(early.value, final.value)) return;
    this.#stats.diverged++;
    if (
      early.version !== undefined &&
      final.version !== undefined &&
      final.version < early.version
    ) {
      this.#stats.regressed++;
    }
  }
}
