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

export class CacheSession implements BindingSession {
  readonly inner: BindingSession;
  readonly #isOlder: IsOlder;
  readonly #floorsMax: number;
  readonly #floors = new Map<string, Floor>();
  /** What of floors that had to be forgotten is known of any object: when the session had come to know the last of them. */
  #forgottenAt = 0;
  /** What it came to know last, of whatever. */
  #last: Floor | undefined;
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

  /** The session was shown a committed view. */
  learnRead(touches: readonly string[] | undefined, floor: Floor): void {
    this.#last = floor;
    if (touches !== undefined) this.#learn(touches, floor);
    else {
      this.#lastUnboundedAt = floor.knownAt;
      this.#learn(floor.id === undefined ? [] : [objectOf(floor.id)], floor);
    }
  }

  /** An update of the session was committed. */
  learnUpdate(touches: readonly string[] | undefined, floor: Floor): void {
    this.#last = { ...floor, id: undefined };
    if (touches === undefined) this.#lastUnboundedAt = floor.knownAt;
    else this.#learn(touches, floor);
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

  #learn(objects: readonly string[], floor: Floor): void {
    for (const object of objects) {
      const known = this.#floors.get(object) ?? this.#forgotten;
      this.#floors.delete(object);
      this.#floors.set(object, known === undefined ? floor : this.#join(known, floor));
    }
    for (const [object, { knownAt }] of this.#floors) {
      if (this.#floors.size <= this.#floorsMax) return;
      this.#floors.delete(object);
      this.#forgottenAt = Math.max(this.#forgottenAt, knownAt);
    }
  }

  /** The floor of an object without one: it may have had one that was newer than what is learned of it next. */
  get #forgotten(): Floor | undefined {
    if (this.#forgottenAt === 0) return undefined;
    return { ...UNKNOWN, knownAt: this.#forgottenAt };
  }

  /** The floor of both: operations that overlap end in any order, so that what is learned last need not be the newest. */
  #join(known: Floor, learned: Floor): Floor {
    const is = known.id === learned.id ? standing(learned.version, known.version, this.#isOlder) : 'unknown';
    if (is === 'older') return { ...known, knownAt: learned.knownAt };
    if (is !== 'unknown' || known.began === learned.began || known.knownAt < learned.began) return learned;
    // Either may be the newer one: surely newer than both is only what begins from now on.
    return { ...learned, began: NONE, version: undefined };
  }
}

/** The operation of no view. */
const NONE = -Infinity;

/** What a session knows of which nobody can say what it is. */
const UNKNOWN = { id: undefined, version: undefined, began: NONE };

/** A view that names no objects is an object of its own. */
function objectOf(id: string): string {
  return `view ${id}`;
}
