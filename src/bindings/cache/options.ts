/** The options of a cache, and their defaults. */
import type { Binding } from '../../correctable/binding.ts';
import { systemClock, type Clock } from '../../correctable/clock.ts';
import { check } from '../../correctable/errors.ts';
import {
  amount,
  callback,
  integer,
  matches,
  objectWith,
  oneOf,
  optional,
  readOptions,
  type OptionsOf,
  type ResolvedOptions,
  timeSource,
} from '../../correctable/options.ts';
import { isBinding, isRecord } from '../../correctable/validate.ts';
import type { Levels } from '../../correctable/level-types.ts';
import type { Operation } from '../../correctable/operation.ts';
import { hasTimeToLive } from '../../values/time-to-live.ts';
import { getPortableTouches } from '../shared/portable-touches.ts';
import type { CacheStore } from './cache-store.ts';

/** A read and its result, which a write has just determined. */
export interface CachedWrite {
  readonly operation: Operation;
  readonly value: unknown;
}

/** Options of `cached`. */
export interface CacheOptions<L extends Levels = Levels> {
  /**
   * The principal for whom views are stored, or a function that returns it; no other principal sees
   * them. The binding behind must act for the same one. For `remote` and `redblue`, set the
   * function as the option `principal` of that binding, because their connection has a principal.
   * Default: the principal that the binding behind reports, or `''` if it reports none
   *
   * Views of operations that a gateway or `withPrincipal` executes for different principals are
   * also kept apart. A function is called at every submission and every answer. If the name
   * changes, the cache empties its memory and reads the stored views of the new principal. It does
   * not store results that arrive for operations of the former principal.
   */
  readonly principal?: (string | (() => string)) | undefined;
  /** The levels of the binding behind whose views may be cached. Default: all but `tentative`. */
  readonly committedLevels?: readonly L[number][] | undefined;
  /**
   * Selects the result if level `cache` is requested alone and misses. `'fail'`: `UNAVAILABLE`,
   * without a request to the store behind. `'fetch'`: a view of the store's weakest level, and with
   * that level. Default: `fail`.
   */
  readonly onMiss?: 'fail' | 'fetch' | undefined;
  /** Maximum number of cached views; the least recently used are dropped first. Default: 1000. */
  readonly maxEntries?: number | undefined;
  /** Approximate maximum size of the cached views in bytes. Default: 16 MiB. */
  readonly maxBytes?: number | undefined;
  /**
   * How long a view may be shown after it was cached, in milliseconds. Default: no limit. An older
   * view is a miss, and the cache drops it from memory and the store. After a reload, the wall
   * clock determines the age; a negative age counts as too old.
   */
  readonly ttlMs?: number | undefined;
  /**
   * Stores views beyond the life of the process. Default: none. The binding's `close` closes it
   * too.
   */
  readonly store?: CacheStore | undefined;
  /**
   * Returns the objects that an operation reads or changes, or `undefined` if it may be any. If it
   * returns `undefined` for a read, every write drops the views of that read. If it returns
   * `undefined` for a write, that write drops all views. Default: `args.keys` if an array of names,
   * the written keys of a `commit`, else `key`.
   */
  readonly touches?: (operation: Operation) => readonly string[] | undefined;
  /**
   * Returns the read whose result is known once a write has been committed with `result`. If it
   * returns `undefined`, the cache drops the views of what the write touches. Default: `put`
   * determines `get` of its key. Not called for a write with an idempotency key, since its answer
   * may be from an earlier attempt.
   */
  readonly writeThrough?: (operation: Operation, result: unknown) => CachedWrite | undefined;
  /**
   * Returns whether the views of this read may be cached. Those of `readVersions` never are, since
   * a transaction must not begin with versions that are out of date. Default: all others may.
   */
  readonly isCacheable?: ((operation: Operation) => boolean) | undefined;
  /**
   * Called with errors that fail no operation: a store that cannot be read or written, or a value
   * that cannot be copied. The cache continues in memory. Default: `reportError`, or a process
   * warning in Node.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Returns milliseconds since the epoch, for `meta.cachedAt`. Default: the time of `clock`. */
  readonly now?: (() => number) | undefined;
  /** Measures ages and timeouts. Default: the clock of the process. */
  readonly clock?: Clock | undefined;
}

/** `put` and `remove` determine the result of `get` for their key, unless the value expires. */
export function getPortableWrite(write: Operation): CachedWrite | undefined {
  const { name, args } = write;
  if (!isRecord(args) || typeof args['key'] !== 'string' || hasTimeToLive(write)) return undefined;
  const isWrite = name === 'remove' || (name === 'put' && 'value' in args);
  if (!isWrite) return undefined;

  const key = args['key'];
  const value = name === 'put' ? args['value'] : undefined;
  return {
    operation: { name: 'get', args: { key }, access: 'read', key },
    value,
  };
}

const CALL = 'cached(memory(), { principal: user.id })';

export const CACHE_OPTIONS = {
  principal: optional(
    matches(
      (value) => typeof value === 'string' || typeof value === 'function',
      'must be a name, or a function that gives one',
    ),
  ),
  committedLevels: optional(matches(Array.isArray, "must be a list of levels, as ['strong']")),
  onMiss: optional<'fail' | 'fetch'>(oneOf('fail', 'fetch'), 'fail'),
  maxEntries: optional(integer(), 1_000),
  maxBytes: optional(integer(), 16 << 20),
  ttlMs: optional(amount({ above: 0, max: Infinity }), Infinity),
  store: optional(objectWith(['load', 'write', 'close'], 'one made by mapStore')),
  touches: optional(callback, getPortableTouches),
  writeThrough: optional(callback, getPortableWrite),
  isCacheable: optional(callback, () => true),
  onError: optional(callback),
  now: optional(callback),
  clock: optional<Clock>(timeSource, systemClock),
} satisfies OptionsOf<CacheOptions>;

export type ResolvedCacheOptions<L extends Levels> = ResolvedOptions<
  CacheOptions<L>,
  typeof CACHE_OPTIONS
>;

/**
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit the binding
 * behind the cache
 */
export function readCacheOptions<L extends Levels>(
  binding: Binding<L>,
  options: CacheOptions<L>,
): ResolvedCacheOptions<L> {
  check(isBinding(binding), 'binding', `give the one to put a cache in front of, as ${CALL}`);
  const resolved = readOptions(options, { call: CALL }, CACHE_OPTIONS);
  const { principal, committedLevels = [] } = resolved;
  // Refuse a principal option that the inner binding does not know: the binding would continue on a
  // connection of the former user.
  const isUnknown =
    typeof principal === 'function' &&
    binding.principal === undefined &&
    'connectionState' in binding;
  const where = `belongs to the binding behind, which has a principal: write cached(${binding.name}({ …, principal }))`;
  check(!isUnknown, 'principal', where);

  const levels: Levels = binding.consistencyLevels();
  check(!levels.includes('cache'), 'binding', `give a binding without a level 'cache' of its own`);
  for (const level of committedLevels) {
    const advice = `'${level}' is none of the levels ${levels.join(', ')}`;
    check(levels.includes(level), 'committedLevels', advice);
  }
  return resolved;
}
