/**
 * Keeps the guarantees of a session. A cached view is skipped if it may be older than a view that
 * the session has read or written.
 */
import type { BindingSession } from '../../correctable/binding.ts';
import type { CacheEntry } from './cache-store.ts';
import { compareVersions, type IsOlder } from './view-precedence.ts';

/**
 * The newest view of an object that a session has seen. The session must not be shown an older
 * view.
 */
export interface SeenView {
  /**
   * The id of the view that `version` belongs to. Versions of different operations cannot be
   * compared.
   */
  readonly id: string | undefined;
  readonly version: unknown;
  /**
   * When the operation of the view began, by the cache's own clock. Each view has a different time.
   */
  readonly startedAt: number;
  /** Whether the view includes everything that had ended before its operation began. */
  readonly isStrongest: boolean;
  readonly learnedAt: number;
}

export interface CandidateView {
  readonly id: string;
  readonly entry: CacheEntry;
  readonly startedAt: number;
  /**
   * Whether it has the store's strongest level. Then it includes everything that had ended before
   * it began.
   */
  readonly isStrongest: boolean;
}

interface KnownView extends SeenView {
  /**
   * Whether the inner binding returned the view in this session. The inner binding does not know
   * what the cache shows.
   */
  readonly isKnownToInner: boolean;
}

export class CacheSession implements BindingSession {
  readonly inner: BindingSession;
  readonly #isOlder: IsOlder;
  readonly #maxViews: number;
  readonly #seenViews = new Map<string, KnownView>();
  /**
   * The latest time at which the session learned one of the views that it has forgotten since.
   * Applies to every object without an entry.
   */
  #forgottenAt = 0;
  #lastLearned: KnownView | undefined;
  /** When the session last learned a view that may concern any object. */
  #lastUnboundedAt = 0;

  /**
   * `continuedAt` is the time when a session was continued whose earlier reads are unknown. It is 0
   * for a new session.
   */
  constructor(inner: BindingSession, isOlder: IsOlder, maxViews: number, continuedAt = 0) {
    this.inner = inner;
    this.#isOlder = isOlder;
    this.#maxViews = maxViews;
    this.#forgottenAt = continuedAt;
    if (continuedAt > 0) this.#lastLearned = { ...UNKNOWN_VIEW, learnedAt: continuedAt };
  }

  /** The tokens of the inner session. They do not include what only the cache knows. */
  get tokens(): readonly string[] | undefined {
    return this.inner.tokens;
  }

  learnWrite(touches: readonly string[] | undefined, seen: SeenView): void {
    this.#learnWrite(touches, { ...seen, isKnownToInner: true });
  }

  /**
   * Handles the reply to an update of unknown age. It is unknown whether the session has seen newer
   * states of these objects. So only a view that begins from now on counts as newer.
   */
  learnReplay(touches: readonly string[] | undefined, learnedAt: number): void {
    this.#learnWrite(touches, { ...UNKNOWN_VIEW, learnedAt });
  }

  canShow(candidate: CandidateView): boolean {
    const { touches } = candidate.entry;
    const isNewerThan = (at: number): boolean =>
      at === 0 || (candidate.isStrongest && candidate.startedAt > at);
    // Without named objects, the view may concern any object that the session has learned of since
    // it was shown the same view.
    if (touches === undefined && this.#lastLearned?.id !== candidate.id)
      return isNewerThan(this.#lastLearned?.learnedAt ?? 0);
    if (touches !== undefined && !isNewerThan(this.#lastUnboundedAt)) return false;
    return (touches ?? [toObjectKey(candidate.id)]).every((object) => {
      const seen = this.#seenViews.get(object);
      if (seen === undefined) return isNewerThan(this.#forgottenAt);
      if (seen.startedAt === candidate.startedAt) return true;
      const is =
        seen.id === candidate.id
          ? compareVersions(candidate.entry.version, seen.version, this.#isOlder)
          : 'unknown';
      return is === 'unknown' ? isNewerThan(seen.learnedAt) : is !== 'older';
    });
  }

  close(): void {
    this.inner.close?.();
  }

  /**
   * Notes a view that the session was shown: a committed one of the inner binding, or a cached one
   * that the session accepted.
   */
  learnView(touches: readonly string[] | undefined, seen: SeenView, isKnownToInner: boolean): void {
    const view = { ...seen, isKnownToInner };
    const last = this.#lastLearned;
    // A view without named objects may replace all earlier entries, but only if it certainly came
    // later than they did.
    const isLast = last === undefined || last.id === view.id || isLaterThan(view, last);
    this.#lastLearned = isLast ? view : { ...UNKNOWN_VIEW, learnedAt: view.learnedAt };
    if (touches !== undefined) return this.#learn(touches, view);
    this.#lastUnboundedAt = view.learnedAt;
    const after = last === undefined ? view : toViewAfter(view, last);
    return this.#learn(view.id === undefined ? [] : [toObjectKey(view.id)], after);
  }

  #learnWrite(touches: readonly string[] | undefined, known: KnownView): void {
    this.#lastLearned = { ...known, id: undefined };
    if (touches === undefined) this.#lastUnboundedAt = known.learnedAt;
    else this.#learn(touches, known);
  }

  #learn(objects: readonly string[], view: KnownView): void {
    for (const object of objects) {
      const known = this.#seenViews.get(object) ?? this.#forgottenView;
      this.#seenViews.delete(object);
      this.#seenViews.set(object, known === undefined ? view : this.#mergeSeenViews(known, view));
    }
    for (const [object, { learnedAt }] of this.#seenViews) {
      if (this.#seenViews.size <= this.#maxViews) return;
      this.#seenViews.delete(object);
      this.#forgottenAt = Math.max(this.#forgottenAt, learnedAt);
    }
  }

  /**
   * The entry to assume for an object without an entry. The object may have had an entry that was
   * forgotten, and that was newer than the next view.
   */
  get #forgottenView(): KnownView | undefined {
    if (this.#forgottenAt === 0) return undefined;
    return { ...UNKNOWN_VIEW, learnedAt: this.#forgottenAt };
  }

  /**
   * Merges two entries. Overlapping operations end in any order, so the one that was learned last
   * need not be the newest.
   */
  #mergeSeenViews(known: KnownView, learned: KnownView): KnownView {
    const is =
      known.id === learned.id
        ? compareVersions(learned.version, known.version, this.#isOlder)
        : 'unknown';
    if (is === 'older') return { ...known, learnedAt: learned.learnedAt };
    if (is !== 'unknown') return learned;
    if (known.startedAt === learned.startedAt || isLaterThan(learned, known))
      return toViewAfter(learned, known);
    // Either entry may be newer. Only a view that begins from now on is certainly newer than both.
    return { ...UNKNOWN_VIEW, learnedAt: learned.learnedAt };
  }
}

/**
 * Returns whether a view is later than a known one: its operation began after the known view was
 * learned, and its source certainly knew that view.
 */
function isLaterThan(view: KnownView, known: KnownView): boolean {
  return known.learnedAt < view.startedAt && (view.isStrongest || known.isKnownToInner);
}

/**
 * After another operation, the version of a weaker view proves nothing, because a backup may have
 * had higher versions.
 */
function toViewAfter(view: KnownView, known: KnownView): KnownView {
  return view.isStrongest || view.id === known.id
    ? view
    : { ...view, id: undefined, version: undefined };
}

/** A time before that of every view. */
const NEVER = -Infinity;

/** The entry of a session for an object whose seen view is unknown. */
const UNKNOWN_VIEW = {
  id: undefined,
  version: undefined,
  startedAt: NEVER,
  isStrongest: false,
  isKnownToInner: false,
};

/** Returns the key of a view without named objects. Such a view has an entry of its own. */
function toObjectKey(id: string): string {
  return `view ${id}`;
}
