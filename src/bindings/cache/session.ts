/**
 * Keeps the cache from breaking a session's promises: a cached view that may be older than what the session has read or
 * written is skipped, as if it were not there.
 */
import type { BindingSession } from '../../correctable/binding.ts';
import type { CacheEntry } from './store.ts';
import { standing, type IsOlder } from './supersede.ts';

/** What a session knows of an object: it must be shown nothing older. */
export interface Floor {
  /** The view that `version` is a version of: versions of different operations do not compare. */
  readonly id: string | undefined;
  readonly version: unknown;
  /** When the operation began that it came from, in the cache's own counting; a number of its own for each view. */
  readonly began: number;
  /** Whether it shows all that had ended before it began. */
  readonly isStrongest: boolean;
  /** When the session came to know it. */
  readonly knownAt: number;
}

/** A cached view that a session might be shown. */
export interface Candidate {
  readonly id: string;
  readonly entry: CacheEntry;
  readonly began: number;
  /** Whether it was given at the store's strongest level: then it shows all that had ended before it began. */
  readonly isStrongest: boolean;
}

/** What a session has come to know of something. */
interface Known extends Floor {
  /** Whether the store behind, which gave it, goes on in this session from there: it knows nothing of what the cache shows. */
  readonly isFollowed: boolean;
}

export class CacheSession implements BindingSession {
  readonly inner: BindingSession;
  readonly #isOlder: IsOlder;
  readonly #floorsMax: number;
  readonly #floors = new Map<string, Known>();
  /** What of floors that had to be forgotten is known of any object: when the session had come to know the last of them. */
  #forgottenAt = 0;
  /** What it came to know last, of whatever. */
  #last: Known | undefined;
  /** When it last came to know something that may concern any object. */
  #lastUnboundedAt = 0;

  /** `goesOnAt` is when a session was continued of which nobody knows what it has seen; 0 for a new one. */
  constructor(inner: BindingSession, isOlder: IsOlder, floorsMax: number, goesOnAt = 0) {
    this.inner = inner;
    this.#isOlder = isOlder;
    this.#floorsMax = floorsMax;
    this.#forgottenAt = goesOnAt;
    if (goesOnAt > 0) this.#last = { ...UNKNOWN, knownAt: goesOnAt };
  }

  /** Those of the store behind: what only the cache knows stays here. */
  get tokens(): readonly string[] | undefined {
    return this.inner.tokens;
  }

  /** The session was shown a committed view by the store behind. */
  learnRead(touches: readonly string[] | undefined, floor: Floor): void {
    this.#learnView(touches, { ...floor, isFollowed: true });
  }

  /** The session was shown a view by the cache, one that it admits. */
  learnCached(touches: readonly string[] | undefined, floor: Floor): void {
    this.#learnView(touches, { ...floor, isFollowed: false });
  }

  /** An update of the session was committed. */
  learnUpdate(touches: readonly string[] | undefined, floor: Floor): void {
    const known = { ...floor, isFollowed: true };
    this.#last = { ...known, id: undefined };
    if (touches === undefined) this.#lastUnboundedAt = floor.knownAt;
    else this.#learn(touches, known);
  }

  /** Whether the session may be shown this view. */
  admits(candidate: Candidate): boolean {
    const { touches } = candidate.entry;
    const isNewerThan = (at: number): boolean => at === 0 || (candidate.isStrongest && candidate.began > at);
    // It may show any object that the session has come to know since it was shown that very view.
    if (touches === undefined && this.#last?.id !== candidate.id) return isNewerThan(this.#last?.knownAt ?? 0);
    if (touches !== undefined && !isNewerThan(this.#lastUnboundedAt)) return false;
    return (touches ?? [objectOf(candidate.id)]).every((object) => {
      const floor = this.#floors.get(object);
      if (floor === undefined) return isNewerThan(this.#forgottenAt);
      if (floor.began === candidate.began) return true;
      const is =
        floor.id === candidate.id ? standing(candidate.entry.version, floor.version, this.#isOlder) : 'unknown';
      return is === 'unknown' ? isNewerThan(floor.knownAt) : is !== 'older';
    });
  }

  close(): void {
    this.inner.close?.();
  }

  #learnView(touches: readonly string[] | undefined, view: Known): void {
    const last = this.#last;
    // Of what it knew before, a view that names no objects shows all where it surely came after.
    const isLast = last === undefined || last.id === view.id || follows(view, last);
    this.#last = isLast ? view : { ...UNKNOWN, knownAt: view.knownAt };
    if (touches !== undefined) return this.#learn(touches, view);
    this.#lastUnboundedAt = view.knownAt;
    return this.#learn(view.id === undefined ? [] : [objectOf(view.id)], view);
  }

  #learn(objects: readonly string[], view: Known): void {
    for (const object of objects) {
      const known = this.#floors.get(object) ?? this.#forgotten;
      this.#floors.delete(object);
      this.#floors.set(object, known === undefined ? view : this.#join(known, view));
    }
    for (const [object, { knownAt }] of this.#floors) {
      if (this.#floors.size <= this.#floorsMax) return;
      this.#floors.delete(object);
      this.#forgottenAt = Math.max(this.#forgottenAt, knownAt);
    }
  }

  /** The floor of an object without one: it may have had one that was newer than what is learned of it next. */
  get #forgotten(): Known | undefined {
    if (this.#forgottenAt === 0) return undefined;
    return { ...UNKNOWN, knownAt: this.#forgottenAt };
  }

  /** The floor of both: operations that overlap end in any order, so that what is learned last need not be the newest. */
  #join(known: Known, learned: Known): Known {
    const is = known.id === learned.id ? standing(learned.version, known.version, this.#isOlder) : 'unknown';
    if (is === 'older') return { ...known, knownAt: learned.knownAt };
    if (is !== 'unknown' || known.began === learned.began || follows(learned, known)) return learned;
    // Either may be the newer one: surely newer than both is only what begins from now on.
    return { ...UNKNOWN, knownAt: learned.knownAt };
  }
}

/** Whether a view shows what was known before: it began after that, and what gave it has to know of it. */
function follows(view: Known, known: Known): boolean {
  return known.knownAt < view.began && (view.isStrongest || known.isFollowed);
}

/** The operation of no view. */
const NONE = -Infinity;

/** What a session knows of which nobody can say what it is. */
const UNKNOWN = { id: undefined, version: undefined, began: NONE, isStrongest: false, isFollowed: false };

/** A view that names no objects is an object of its own. */
function objectOf(id: string): string {
  return `view ${id}`;
}
