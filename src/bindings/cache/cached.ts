/**
 * A cache in front of any binding (Correctables, OSDI 2016, §5.2): one more level, weaker and
 * faster than the others.
 */
import type { Binding } from '../../correctable/binding.ts';
import { bindMethods } from '../../correctable/binding.ts';
import type { Levels } from '../../correctable/level-types.ts';
import { CacheBinding } from './cache-binding.ts';
import { readCacheOptions, type CacheOptions } from './options.ts';

/** The levels of a binding with a cache in front. */
export type CachedLevels<L extends Levels> = readonly ['cache', ...L];

/** A binding with a cache in front. */
export interface CachedBinding<L extends Levels> extends Binding<CachedLevels<L>> {
  /** How much the cache holds: the number of views, and approximately their bytes. */
  readonly size: { readonly entries: number; readonly bytes: number };
  /** Resolves when the stored views have been read, or after 1 000 ms at the latest. */
  ready(): Promise<void>;
  /**
   * Drops the views that depend on `key`, for example after a notice that another client changed
   * it. Memory drops them at once, and the store before the promise resolves. Other pages on the
   * store drop them when they are notified.
   *
   * @throws CorrectableError `UNAVAILABLE` if the store has not applied it within 1 000 ms
   */
  invalidate(key: string): Promise<void>;
  /**
   * Drops the views of one principal, for example at sign-out. Default: of all. Works like
   * `invalidate`, also after `close()`, and removes stored views whichever cache wrote them.
   *
   * @throws CorrectableError `UNAVAILABLE` if the store failed: the data may still be there
   */
  clear(options?: { readonly principal?: string }): Promise<void>;
}

/**
 * Puts a cache in front of a binding, as a first level `cache`, and returns the combined binding.
 *
 * Cached views have `meta.cachedAt` (milliseconds since the epoch) and `meta.cachedFrom` (the level
 * that they had). On a miss, level `cache` is skipped. If you request it alone, as `invokeWeak`
 * does, the store behind gets no request, and a miss fails with `UNAVAILABLE`. The option `onMiss`
 * changes that.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if an option does not fit
 * @example
 * // Create one client for each user at sign-in, and close it at sign-out.
 * const store = createClient(
 *   cached(redblue(shop, { url, token }), { principal: user.id }),
 * );
 * // Shows the cached profile at once, then newer ones.
 * store.invoke(get('profile')).onUpdate(show).onFinal(show);
 * // Reads from the cache only.
 * const offline = await store.invokeWeak(get('profile'));
 */
export function cached<const L extends Levels>(
  binding: Binding<L>,
  options: CacheOptions<L> = {},
): CachedBinding<L> {
  const resolved = readCacheOptions(binding, options);
  return bindMethods(new CacheBinding(binding, resolved));
}
