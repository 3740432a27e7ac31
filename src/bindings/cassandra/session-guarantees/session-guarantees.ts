/**
 * What an application's session has seen of each key. No later view may be older.
 *
 * A replica may be behind, and absence has no version. A missing key was never written, is not
 * there yet, or was deleted. Only an authoritative answer shows which. So one answer about a key is
 * judged by what was known when its read began:
 *
 * - *behind*: the answer is older than what was seen. The answer of one replica is then not shown.
 *   Several replicas are read once more, and if they are still behind, the read fails.
 * - *missing*: the key is absent, although it was seen. At `strong` that is accepted for a value
 *   that the session wrote, or saw at `strong`: every quorum had that value, so it was deleted.
 *   Otherwise all replicas are read, and their answer is accepted.
 * - *doubted*: the answer may be from before the key was found gone, or the session has seen the
 *   key and forgotten its version. The answer of one replica is then not shown. An answer at
 *   `strong` is accepted. Otherwise all replicas are read, and their answer is accepted.
 * - *fine*: every other answer.
 *
 * When an authoritative answer finds a key gone, what was seen of it is void. Versions written up
 * to then are doubted, until an authoritative answer shows the key. What was learned of a key while
 * a read was in flight stays, whatever the read shows. For a forgotten key, `strong` knows earlier
 * answers, but not what one replica alone has shown.
 */
import type { BindingSession } from '../../../correctable/binding.ts';
import type { ObjectVersion } from '../statement-plan.ts';
import { isOlder, NOTHING_SEEN, SeenVersions, type SeenVersion } from './seen-versions.ts';
import { writeClock } from './write-clock.ts';

const MAX_KEYS = 10_000;

export class SessionGuarantees implements BindingSession {
  readonly #isStrong: boolean;
  readonly #seenVersions: SeenVersions;

  /** `isStrong`: final views show every write that was acknowledged before their request. */
  constructor(isStrong: boolean, maxKeys = MAX_KEYS) {
    this.#isStrong = isStrong;
    this.#seenVersions = new SeenVersions(maxKeys);
  }

  close(): void {
    this.#seenVersions.clear();
  }

  /** Begins a read of these objects. Its views must not be behind what is known by now. */
  beginRead(ids: readonly string[]): SessionRead {
    return new SessionRead(this.#seenVersions, ids);
  }

  recordWrite(objects: readonly ObjectVersion[] | undefined): void {
    objects?.forEach((object) => this.#seenVersions.learn(object, this.#isStrong));
  }
}

/** The verdict on one reply, compared with what was known of the object. */
type SessionVerdict = 'current' | 'behind' | 'missing' | 'uncertain';

/** How complete the knowledge of the replicas of a final view is. */
export interface ReadCertainty {
  /** Whether they have every write that was acknowledged before their request. */
  readonly isCertain: boolean;
  /** Whether every later final view shows at least what this one does. */
  readonly isSettled: boolean;
}

/** One read in a session. Its replies are compared with what was known when it began. */
export class SessionRead {
  readonly #seenVersions: SeenVersions;
  readonly #learnedBefore: number;
  readonly #seen: Map<string, SeenVersion>;

  constructor(seen: SeenVersions, ids: readonly string[]) {
    this.#seenVersions = seen;
    this.#learnedBefore = seen.learnedCount;
    this.#seen = seen.getSeen(ids);
  }

  /** Returns whether the reply of one replica certainly shows nothing older than was seen. */
  canShow(objects: readonly ObjectVersion[] | undefined): boolean {
    return objects?.every((object) => this.#compareToSeen(object) === 'current') === true;
  }

  /**
   * Returns whether only a read of all replicas can show that a reply is not older than was seen.
   */
  needsAllReplicas(
    objects: readonly ObjectVersion[],
    { isCertain }: { readonly isCertain: boolean },
  ): boolean {
    return objects.some((object) => {
      const judgement = this.#compareToSeen(object);
      if (judgement === 'missing')
        return !(isCertain && this.#seen.get(object.id)?.isSettled === true);
      return judgement === 'uncertain' && !isCertain;
    });
  }

  /** Returns whether the session has certainly seen a newer version than this one. */
  hasNewerVersion(objects: readonly ObjectVersion[]): boolean {
    return objects.some((object) => this.#compareToSeen(object) === 'behind');
  }

  /** Notes that a preliminary view was shown. The final view of this read must not be older. */
  recordPreliminary(objects: readonly ObjectVersion[] | undefined): void {
    for (const object of objects ?? []) {
      this.#seenVersions.learn(object);
      const { id, version } = object;
      const seen = this.#seen.get(id) ?? NOTHING_SEEN;
      // The same version with another value is the later of two writes of the same time, so it is
      // not older.
      if (version === undefined || seen.version === version) continue;
      this.#seen.set(id, {
        ...seen,
        version,
        content: undefined,
        isSettled: false,
        isForgotten: false,
      });
    }
  }

  recordFinal(
    objects: readonly ObjectVersion[] | undefined,
    { isCertain, isSettled }: ReadCertainty,
  ): void {
    const now = writeClock.current();
    for (const object of objects ?? []) {
      const before = {
        seenVersion: this.#seen.get(object.id),
        learnedCount: this.#learnedBefore,
      };
      if (isCertain) this.#seenVersions.learnCertain(object, isSettled, before, now);
      else this.#seenVersions.learn(object);
    }
  }

  #compareToSeen(object: ObjectVersion): SessionVerdict {
    const seen = this.#seen.get(object.id);
    if (seen === undefined) return 'current';
    if (isOlder(object, seen)) return 'behind';
    if (object.version !== undefined)
      return object.version <= seen.uncertainUpTo ? 'uncertain' : 'current';
    if (seen.version !== undefined) return 'missing';
    return seen.isForgotten ? 'uncertain' : 'current';
  }
}
