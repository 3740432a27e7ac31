/**
 * A cache in front of any binding (Correctables, OSDI 2016, §5.2): one more level, weaker and faster than those of the
 * store behind, coherent by write-through, bypassed by `invokeStrong`, used alone by `invokeWeak`.
 */
import type { Binding } from '../../correctable/binding.ts';
import { bindMethods } from '../../correctable/binding.ts';
import type { Levels } from '../../correctable/level-types.ts';
import { CacheBinding } from './cache-binding.ts';
import { checkOptions, type CacheOptions } from './options.ts';

/** The levels of a binding with a cache in front. */
export type CachedLevels<L extends Levels> = readonly ['cache', ...L];

/** A binding with a cache in front. */
export interface CachedBinding<L extends Levels> extends Binding<CachedLevels<L>> {
  /** How much the cache holds: views, and about how many bytes. */
  readonly size: { readonly entries: number; readonly bytes: number };
  /** Resolves when what the store kept has been read; after a second at the latest. */
  ready(): Promise<void>;
  /**
   * Drops the views that depend on `key`, for example on a notice that another client has changed it: from memory at once,
   * from the store when it resolves, in other pages on the store when they hear of it.
   *
   * @throws CorrectableError `UNAVAILABLE` where the store has not taken that within a second
   */
  invalidate(key: string): Promise<void>;
  /**
   * Drops the views of one principal, at signing out for example, or of all: as `invalidate` does, and what is stored is
   * removed, whoever wrote it. Also after `close()`.
   *
   * @throws CorrectableError `UNAVAILABLE` where the store could not: the data may still be there
   */
  clear(options?: { readonly principal?: string }): Promise<void>;
}

/**
 * Puts a cache in front of a binding.
 *
 * Cached views have `meta.cachedAt` (milliseconds since the epoch) and `meta.cachedFrom` (the level that they had). A
 * miss is a skipped level. Asked for alone, as `invokeWeak` does, level `cache` never touches the store behind; a miss is
 * `UNAVAILABLE` then. Throws `INVALID_ARGUMENT` for options that do not fit.
 *
 * @example
 * // One client a user: made at signing in, closed at signing out.
 * const store = createClient(cached(redblue(shop, { url, token }), { principal: user.id }));
 * store.invoke(get('profile')).onUpdate(show).onFinal(show); // the cached profile at once, then fresher ones
 * const offline = await store.invokeWeak(get('profile')); // from the cache alone
 */
export function cached<const L extends Levels>(binding: Binding<L>, options: CacheOptions<L> = {}): CachedBinding<L> {
  checkOptions(binding, options);
  return bindMethods(new CacheBinding(binding, options));
}
