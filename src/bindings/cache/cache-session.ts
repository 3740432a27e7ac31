/**
 * Keeps a session's guarantees: skips a cached view that may be older than what
 * the session has read or written.
 */
import type { BindingSession } from '../../correctable/binding.ts';
import type { CacheEntry } from './cache-store.ts';
import { compareVersions, type IsOlder } from './view-precedence.ts';

/** What a session knows of an object: it must be shown nothing older. */
export interface SessionFloor {
  /**
   * The view that `version` is a version of: versions of different operations
   * do not compare.
   */
  readonly id: string | undefined;
  readonly version: unknown;
  /**
   * When the operation began that it came from, in the cache's own counting; a
   * number of its own for each view.
   */
  readonly startedAt: number;
  /** Whether it shows all that had ended before it began. */
  readonly isStrongest: boolean;
  readonly learnedAt: number;
}

export interface CandidateView {
  readonly id: string;
  readonly entry: CacheEntry;
  readonly startedAt: number;
  /**
   * Whether it was given at the store's strongest level: then it shows all that
   * had ended before it began.
   */
  readonly isStrongest: boolean;
}

interface KnownFloor extends SessionFloor {
  /**
   * Whether the store behind, which gave it, goes on in this session from
   * there: it knows nothing of what the cache shows.
   */
  readonly isKnownToInner: boolean;
}

export class CacheSession implements BindingSession {
  readonly inner: BindingSession;
  readonly #isOlder: IsOlder;
  readonly #maxFloors: number;
  readonly #floors = new Map<string, KnownFloor>();
  /**
   * What of floors that had to be forgotten is known of any object: when the
   * session had come to know the last of them.
   */
  #forgottenAt = 0;
  #lastLearned: KnownFloor | undefined;
  /** When it last came to know something that may concern any object. */
  #lastUnboundedAt = 0;

  /**
   * `goesOnAt` is the time when a session was continued whose reads are
   * unknown; 0 for a new one.
   */
  constructor(
    inner: BindingSession,
    isOlder: IsOlder,
    maxFloors: number,
    goesOnAt = 0,
  ) {
    this.inner = inner;
    this.#isOlder = isOlder;
    this.#maxFloors = maxFloors;
    this.#forgottenAt = goesOnAt;
    if (goesOnAt > 0)
      this.#lastLearned = { ...UNKNOWN_VIEW, learnedAt: goesOnAt };
  }

  /** Those of the store behind: what only the cache knows stays here. */
  get tokens(): readonly string[] | undefined {
    return this.inner.tokens;
  }

  learnWrite(
    touches: readonly string[] | undefined,
    floor: SessionFloor,
  ): void {
    this.#learnWrite(touches, { ...floor, isKnownToInner: true });
  }

  /**
   * The session was answered for an update of unknown age. So it is unknown
   * whether what it knows of these objects is newer, and only what begins from
   * now on is newer than both.
   */
  learnReplay(touches: readonly string[] | undefined, learnedAt: number): void {
    this.#learnWrite(touches, { ...UNKNOWN_VIEW, learnedAt });
  }

  canShow(candidate: CandidateView): boolean {
    const { touches } = candidate.entry;
    const isNewerThan = (at: number): boolean =>
      at === 0 || (candidate.isStrongest && candidate.startedAt > at);
    // It may show any object that the session has come to know since it was
    // shown that very view.
    if (touches === undefined && this.#lastLearned?.id !== candidate.id)
      return isNewerThan(this.#lastLearned?.learnedAt ?? 0);
    if (touches !== undefined && !isNewerThan(this.#lastUnboundedAt))
      return false;
    return (touches ?? [toObjectKey(candidate.id)]).every((object) => {
      const floor = this.#floors.get(object);
      if (floor === undefined) return isNewerThan(this.#forgottenAt);
      if (floor.startedAt === candidate.startedAt) return true;
      const is =
        floor.id === candidate.id
          ? compareVersions(
              candidate.entry.version,
              floor.version,
              this.#isOlder,
            )
          : 'unknown';
      return is === 'unknown' ? isNewerThan(floor.learnedAt) : is !== 'older';
    });
  }

  close(): void {
    this.inner.close?.();
  }

  /**
   * The session was shown a view, by the store behind (a committed one) or by
   * the cache (one that it admits).
   */
  learnView(
    touches: readonly string[] | undefined,
    floor: SessionFloor,
    isKnownToInner: boolean,
  ): void {
    const view = { ...floor, isKnownToInner };
    const last = this.#lastLearned;
    // Of what it knew before, a view that names no objects shows all where it
    // surely came after.
    const isLast =
      last === undefined || last.id === view.id || isLaterThan(view, last);
    this.#lastLearned = isLast
      ? view
      : { ...UNKNOWN_VIEW, learnedAt: view.learnedAt };
    if (touches !== undefined) return this.#learn(touches, view);
    this.#lastUnboundedAt = view.learnedAt;
    const after = last === undefined ? view : toFloorAfter(view, last);
    return this.#learn(
      view.id === undefined ? [] : [toObjectKey(view.id)],
      after,
    );
  }

  #learnWrite(touches: readonly string[] | undefined, known: KnownFloor): void {
    this.#lastLearned = { ...known, id: undefined };
    if (touches === undefined) this.#lastUnboundedAt = known.learnedAt;
    else this.#learn(touches, known);
  }

  #learn(objects: readonly string[], view: KnownFloor): void {
    for (const object of objects) {
      const known = this.#floors.get(object) ?? this.#forgottenFloor;
      this.#floors.delete(object);
      this.#floors.set(
        object,
        known === undefined ? view : this.#mergeFloors(known, view),
      );
    }
    for (const [object, { learnedAt }] of this.#floors) {
      if (this.#floors.size <= this.#maxFloors) return;
      this.#floors.delete(object);
      this.#forgottenAt = Math.max(this.#forgottenAt, learnedAt);
    }
  }

  /**
   * The floor of an object without one: it may have had one that was newer than
   * what is learned of it next.
   */
  get #forgottenFloor(): KnownFloor | undefined {
    if (this.#forgottenAt === 0) return undefined;
    return { ...UNKNOWN_VIEW, learnedAt: this.#forgottenAt };
  }

  /**
   * The floor of both: operations that overlap end in any order, so that what
   * is learned last need not be the newest.
   */
  #mergeFloors(known: KnownFloor, learned: KnownFloor): KnownFloor {
    const is =
      known.id === learned.id
        ? compareVersions(learned.version, known.version, this.#isOlder)
        : 'unknown';
    if (is === 'older') return { ...known, learnedAt: learned.learnedAt };
    if (is !== 'unknown') return learned;
    if (known.startedAt === learned.startedAt || isLaterThan(learned, known))
      return toFloorAfter(learned, known);
    // Either may be the newer one: surely newer than both is only what begins
    // from now on.
    return { ...UNKNOWN_VIEW, learnedAt: learned.learnedAt };
  }
}

/**
 * Whether a view shows what was known before: it began after that, and what
 * gave it has to know of it.
 */
function isLaterThan(view: KnownFloor, known: KnownFloor): boolean {
  return (
    known.learnedAt < view.startedAt &&
    (view.isStrongest || known.isKnownToInner)
  );
}

/**
 * After another operation, the version of a weaker view proves nothing: a
 * backup may have had higher ones.
 */
function toFloorAfter(view: KnownFloor, known: KnownFloor): KnownFloor {
  return view.isStrongest || view.id === known.id
    ? view
    : { ...view, id: undefined, version: undefined };
}

/** The operation of no view. */
const NEVER = -Infinity;

/** The entry of a session for an object whose seen view is unknown. */
const UNKNOWN_VIEW = {
  id: undefined,
  version: undefined,
  startedAt: NEVER,
  isStrongest: false,
  isKnownToInner: false,
};

/** A view that names no objects is an object of its own. */
function toObjectKey(id: string): string {
  return `view ${id}`;
}
