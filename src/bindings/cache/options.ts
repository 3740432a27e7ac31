/** What a cache is made from, and the defaults. */
import type { Binding } from '../../correctable/binding.ts';
import type { Clock } from '../../correctable/clock.ts';
import { check, CorrectableError } from '../../correctable/errors.ts';
import {
  checkOptionTypes,
  checkOptionNames,
  hasMethods,
  isBinding,
  isClock,
  isRecord,
  type OptionNamesOf,
} from '../../correctable/validate.ts';
import type { Levels } from '../../correctable/level-types.ts';
import type { Operation } from '../../correctable/operation.ts';
import type { CacheStore } from './cache-store.ts';

/** A read whose result an update has just decided. */
export interface CachedWrite {
  readonly operation: Operation;
  readonly value: unknown;
}

/** Options of `cached`. */
export interface CacheOptions<L extends Levels = Levels> {
  /**
   * Whose views these are: they are filed under this name, and shown under no other. It has to be the principal as whom
   * the binding behind asks; unless given, that is what the binding says, and `''` where it says nothing. A function is
   * asked at every submission and every answer: where it gives another name than before, memory is empty, what is under
   * way for the former is not filed, and what the store kept for the new one is read. Of `remote` and `redblue` the
   * function belongs into their options, since their connection is somebody's: refused here where they have none.
   */
  readonly principal?: string | (() => string);
  /** The levels of the binding behind whose views may be cached: all but one named `tentative`, unless given. */
  readonly committedLevels?: readonly L[number][];
  /**
   * What to do with an operation that asks for level `cache` alone and misses. `'fail'` (default): `UNAVAILABLE`, the
   * store behind is not asked. `'fetch'`: the store's weakest level answers instead, labeled as such.
   */
  readonly onMiss?: 'fail' | 'fetch';
  /** Keeps at most this many views, 1,000 unless given; the least recently used leave first. */
  readonly maxEntries?: number;
  /** Keeps at most about this many bytes, 16 MiB unless given. */
  readonly maxBytes?: number;
  /**
   * How long a view may be shown after it was cached, in milliseconds; however long unless given. An older one is a miss,
   * and leaves memory and the store. Of a view from before a reload, the time that the wall clock says has passed; it
   * is too old where that is negative.
   */
  readonly ttlMs?: number;
  /** Where views outlive the process; nowhere unless given. Closed together with the binding. */
  readonly store?: CacheStore;
  /**
   * The objects that an operation reads or changes; `undefined` if it may be any, in which case every update drops it
   * and it, if it is an update, drops everything. Unless given: `args.keys` where that is a list of names, else `key`.
   */
  readonly touches?: (operation: Operation) => readonly string[] | undefined;
  /**
   * The read whose result is known once an update has been committed with `result`; `undefined` where it isn't, and the
   * cached views of what it touches are dropped. Unless given: `put` decides `get` of its key.
   */
  readonly writeThrough?: (operation: Operation, result: unknown) => CachedWrite | undefined;
  /** Whether the views of this read may be cached; all unless given. */
  readonly isCacheable?: (operation: Operation) => boolean;
  /**
   * Told of what went wrong beside the operations: the store could not be read or written, a value cannot be copied.
   * The cache goes on in memory. Unless given: `reportError`, in Node a process warning.
   */
  readonly onError?: (error: unknown) => void;
  /** Milliseconds since the epoch, for `meta.cachedAt`; those of `clock` unless given. */
  readonly now?: () => number;
  /** What ages and waits are measured with; the process's clock unless given. */
  readonly clock?: Clock;
}

export const DEFAULT_MAX_ENTRIES = 1_000;
export const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;

/** The objects named by the operations that every store shares. */
export function getPortableTouches({ key, args }: Operation): readonly string[] | undefined {
  const keys = isRecord(args) ? args['keys'] : undefined;
  if (Array.isArray(keys) && keys.every((name) => typeof name === 'string')) return keys;
  return key === undefined ? undefined : [key];
}

/** `put` decides what `get` of its key gives. */
export function getPortableWrite({ name, args }: Operation): CachedWrite | undefined {
  if (name !== 'put' || !isRecord(args) || typeof args['key'] !== 'string' || !('value' in args)) return undefined;
  const key = args['key'];
  return { operation: { name: 'get', args: { key }, access: 'read', key }, value: args['value'] };
}

const CALL = 'cached(memory(), { principal: user.id })';

const OPTIONS: OptionNamesOf<CacheOptions> = {
  principal: true,
  committedLevels: true,
  onMiss: true,
  maxEntries: true,
  maxBytes: true,
  ttlMs: true,
  store: true,
  touches: true,
  writeThrough: true,
  isCacheable: true,
  onError: true,
  now: true,
  clock: true,
};

/** Refuses options that do not fit the binding. */
export function checkOptions(binding: Binding, options: CacheOptions): void {
  check(isBinding(binding), 'binding', `give the one to put a cache in front of, as ${CALL}`);
  checkOptionNames(options, { call: CALL }, OPTIONS);
  const levels = binding.consistencyLevels();
  const { principal = '', committedLevels = [], store, ttlMs = Infinity, clock } = options;
  const isPrincipal = typeof principal === 'string' || typeof principal === 'function';
  check(isPrincipal, 'principal', 'must be a name, or a function that gives one');
  // It would go on answering over a connection of whoever was signed in before.
  const isUntold = typeof principal === 'function' && binding.principal === undefined && 'connectionState' in binding;
  const where = `belongs to the binding behind, which has a principal: write cached(${binding.name}({ …, principal }))`;
  check(!isUntold, 'principal', where);
  check(Array.isArray(committedLevels), 'committedLevels', `must be a list of levels, as ['${levels.at(-1)}']`);
  const isStore = store === undefined || hasMethods(store, 'load', 'write', 'close');
  check(isStore, 'store', 'must be one made by mapStore, indexedDbStore or directoryStore, or of your own, or none');
  checkOptionTypes(options, 'function', 'touches', 'writeThrough', 'isCacheable', 'onError', 'now');
  check(ttlMs > 0, 'ttlMs', 'must be a number of milliseconds above 0, as 86_400_000 for a day');
  check(clock === undefined || isClock(clock), 'clock', 'must have now() and setTimer(fire, delayMs), or be none');
  const refuse = (field: string, fix: string): never => {
    throw new CorrectableError('INVALID_ARGUMENT', `cached: ${fix}`, { field });
  };
  if (levels.includes('cache')) refuse('binding', `give a binding without a level 'cache' of its own`);
  for (const level of committedLevels) {
    if (!levels.includes(level)) refuse('committedLevels', `'${level}' is none of the levels ${levels.join(', ')}`);
  }
  for (const field of ['maxEntries', 'maxBytes'] as const) {
    const max = options[field];
    if (max !== undefined && !(Number.isSafeInteger(max) && max > 0)) refuse(field, `${field} is an integer above 0`);
  }
  if (options.onMiss !== undefined && options.onMiss !== 'fail' && options.onMiss !== 'fetch') {
    refuse('onMiss', `choose 'fail' or 'fetch', not '${String(options.onMiss)}'`);
  }
}
