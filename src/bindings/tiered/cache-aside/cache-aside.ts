/**
 * A cache that other programs share, such as Redis, as a tier in front of an origin: the origin's
 * answers fill it, and writes drop its entries.
 *
 * No operation waits for that. What a write has not dropped yet, this process does not show.
 * Another process may fill the cache with an answer from before the write. So an entry has the time
 * at which its origin was asked, and no entry lives longer than `ttlMs` from then on.
 */
import { systemClock, type Clock } from '../../../correctable/clock.ts';
import type { Operation } from '../../../correctable/operation.ts';
import {
  amount,
  callback,
  optional,
  readOptions,
  required,
  type OptionsOf,
  type ResolvedOptions,
} from '../../../correctable/options.ts';
import { reportFailure } from '../../../protocol/report-failure.ts';
import { isValueWithDetails, skipLevel, withDetails } from '../../../contract/tier-result.ts';
import type { LevelContext } from '../../shared/level-call.ts';
import { getPortableTouches } from '../../shared/portable-touches.ts';
import type { Tier } from '../tier.ts';
import { formatEntry, parseEntry, toDetails, toEntryId } from './cache-entry.ts';
import { CacheLink, type CacheAsideFailure } from './cache-link.ts';
import { DroppedKeys } from './dropped-keys.ts';
import { SharedReads } from './shared-reads.ts';

/** Options of `cacheAside`. */
export interface CacheAsideOptions {
  /** Returns the text of a key, or `null` or `undefined` if it has none. */
  readonly get: (key: string) => string | null | undefined | PromiseLike<string | null | undefined>;
  /** Stores a text for `ttlMs` milliseconds, an integer. */
  readonly set: (key: string, text: string, ttlMs: number) => unknown;
  /** Removes the text of a key. */
  readonly delete: (key: string) => unknown;
  /**
   * How long a view may be shown after its origin was asked, in milliseconds. Entries get up to a
   * tenth less, so that those that were stored together do not expire together.
   */
  readonly ttlMs: number;
  /** The tier behind the cache, which also executes the writes. */
  readonly origin: Tier;
  /**
   * Returns the keys that an operation reads or changes. A write drops their entries. Only reads of
   * one key are cached. Default: `args.keys` if an array of names, the written keys of a `commit`,
   * else `key`
   */
  readonly touches?: ((operation: Operation) => readonly string[] | undefined) | undefined;
  /**
   * How long a read waits for the cache, in milliseconds. A cache that does not answer in time is
   * left alone for 500 ms. That time doubles up to 30 s. Until the cache answers again, no read
   * waits for it. Default: 100
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Called if the cache fails or does not answer, once until it is tried again, and if a view
   * cannot be cached. Default: `console.error`
   */
  readonly onError?: ((error: unknown, failure: CacheAsideFailure) => unknown) | undefined;
}

/** The tiers of a cache and of its origin. */
export interface CacheAsideTiers {
  readonly cache: Tier;
  readonly origin: Tier;
}

/**
 * Creates the tiers of a cache and of the origin behind it, for `tiered`. The cache has one view
 * for each `key`: that of the operation that was read last. Final views fill it, and writes drop
 * it. No operation waits for that, so a cache that hangs delays nothing.
 *
 * Equal reads of one key share a read of the origin: those that come while one is in flight wait
 * for the next one. So an origin gets two reads, not a hundred, if a key that many clients read is
 * not in the cache. All callers get the same value: do not change it.
 *
 * A cached view has `meta.lagMs`, for `getLagMs` and `freshEnough`: how long ago the origin was
 * asked. Machines that share the cache need the same time. Views are kept apart by the operation,
 * its arguments and its principal.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option
 * @example
 * const { cache, origin } = cacheAside({
 *   get: (key) => redis.get(key),
 *   set: (key, text, ttlMs) => redis.set(key, text, 'PX', ttlMs),
 *   delete: (key) => redis.del(key),
 *   ttlMs: 60_000,
 *   origin: (operation) => queryDatabase(operation),
 * });
 * const store = createClient(tiered(['cache', 'origin'], { cache, origin }));
 */
export function cacheAside(options: CacheAsideOptions): CacheAsideTiers {
  return openCacheAside(options, systemClock, Math.random);
}

/**
 * Creates the tiers with a clock and a source of numbers in [0, 1), which tests control. Without
 * numbers, entries live for the whole `ttlMs`.
 */
export function openCacheAside(
  options: CacheAsideOptions,
  clock: Clock,
  random: () => number = () => 0,
): CacheAsideTiers {
  const resolved = readOptions(options, { call: CALL }, CACHE_ASIDE_OPTIONS);
  return new CacheAside(resolved, clock, random).tiers;
}

const CALL = 'cacheAside({ get, set, delete: remove, ttlMs: 60_000, origin: readOrigin })';

export const CACHE_ASIDE_OPTIONS = {
  get: required(callback),
  set: required(callback),
  delete: required(callback),
  ttlMs: required(amount({ min: 1 })),
  origin: required(callback),
  touches: optional(callback, getPortableTouches),
  timeoutMs: optional(amount({ min: 1 }), 100),
  onError: optional(callback),
} satisfies OptionsOf<CacheAsideOptions>;

type Resolved = ResolvedOptions<CacheAsideOptions, typeof CACHE_ASIDE_OPTIONS>;

/** A function of `createHandler` has the form of its contract. */
type OriginTier = Tier & {
  readonly operationHash?: (name: string) => string | undefined;
};

/** A read of the origin that may fill the cache. */
interface FillingRead {
  readonly key: string;
  /** What distinguishes its views from others of the key. */
  readonly id: string | undefined;
  /** When it began, by both clocks. */
  readonly beganAtMs: number;
  readonly beganAtWallMs: number;
  /** Whether a write has changed the key since, or may have. */
  isSpoiled: boolean;
}

/** The part of `ttlMs` by which the lives of entries differ. */
const JITTER = 0.1;

class CacheAside {
  readonly #options: Resolved;
  readonly #clock: Clock;
  readonly #origin: OriginTier;
  readonly #link: CacheLink;
  readonly #dropped: DroppedKeys;
  readonly #random: () => number;
  readonly #sharedReads: SharedReads;
  /** Reads that have not filled the cache yet, by key. */
  readonly #reads = new Map<string, Set<FillingRead>>();
  /** Operations whose results cannot be cached, which was reported. */
  readonly #reported = new Set<string>();

  constructor(options: Resolved, clock: Clock, random: () => number) {
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.#sharedReads = new SharedReads(clock);
    this.#origin = options.origin;
    this.#dropped = new DroppedKeys(clock, options.ttlMs);
    this.#link = new CacheLink({
      timeoutMs: options.timeoutMs,
      clock,
      onError: (error, failure) => this.#report(error, failure),
    });
  }

  get tiers(): CacheAsideTiers {
    const { operationHash } = this.#origin;
    const origin: Tier = (operation, context) =>
      operation.access === 'write'
        ? this.#write(operation, context)
        : this.#readOrigin(operation, context);
    return {
      cache: (operation, context) => this.#readCache(operation, context),
      origin: operationHash ? Object.assign(origin, { operationHash }) : origin,
    };
  }

  async #readCache(operation: Operation, context: LevelContext): Promise<unknown> {
    const key = this.#getKey(operation);
    if (key === undefined || !this.#link.isUsable || this.#dropped.has(key)) return skipLevel;
    const { isOnTrial } = this.#link;
    const reading = this.#link.ask('get', key, () => this.#options.get(key));
    const text = isOnTrial ? undefined : await reading;
    // A write may have ended meanwhile.
    if (typeof text !== 'string' || this.#dropped.has(key)) return skipLevel;

    const entry = parseEntry(text);
    const id = this.#toId(operation, context);
    if (entry === undefined || entry.id !== id) return skipLevel;
    const ageMs = this.#getWallTime() - entry.readAtMs;
    if (ageMs > this.#options.ttlMs) return skipLevel;
    // Another machine's clock may be ahead. Then the age is unknown.
    return withDetails(entry.value, toDetails(entry, ageMs < 0 ? undefined : ageMs));
  }

  async #readOrigin(operation: Operation, context: LevelContext): Promise<unknown> {
    const key = this.#getKey(operation);
    if (key === undefined) return this.#origin(operation, context);
    const id = this.#toId(operation, context);
    const read = (shared: LevelContext): Promise<unknown> =>
      this.#readAndFill(operation, shared, { key, id });
    if (id === undefined) return read(context);
    const sharedId = JSON.stringify([context.level, key, operation.key, id]);
    return this.#sharedReads.execute(sharedId, context, read);
  }

  async #readAndFill(
    operation: Operation,
    context: LevelContext,
    entry: Pick<FillingRead, 'key' | 'id'>,
  ): Promise<unknown> {
    const read = this.#beginRead(entry);
    try {
      const result = await this.#origin(operation, context);
      const ageMs = this.#getAgeMs(read);
      const text = this.#format(operation, result, read, ageMs);
      if (text === undefined) this.#endRead(read);
      else this.#fill(text, read, ageMs);
      return result;
    } catch (error) {
      this.#endRead(read);
      throw error;
    }
  }

  /**
   * Returns how long ago the origin was asked. The clock of the machine may have been set
   * meanwhile, and the other one stands still while a machine sleeps.
   */
  #getAgeMs({ beganAtMs, beganAtWallMs }: FillingRead): number {
    return Math.max(this.#clock.now() - beganAtMs, this.#getWallTime() - beganAtWallMs);
  }

  /** The write may have been made, also if it fails. */
  async #write(operation: Operation, context: LevelContext): Promise<unknown> {
    try {
      return await this.#origin(operation, context);
    } finally {
      for (const key of this.#getTouchedKeys(operation)) this.#drop(key);
    }
  }

  /** Returns the key of a read that can be cached. */
  #getKey(operation: Operation): string | undefined {
    const keys = this.#getTouchedKeys(operation);
    return keys.length === 1 ? keys[0] : undefined;
  }

  /** If the option `touches` throws after a write, the write does not fail. */
  #getTouchedKeys(operation: Operation): readonly string[] {
    try {
      const keys = this.#options.touches(operation) ?? [];
      return keys.filter((key) => typeof key === 'string');
    } catch (error) {
      const action = operation.access === 'write' ? 'delete' : 'get';
      this.#reportOnce(error, operation, action);
      return getPortableTouches(operation) ?? [];
    }
  }

  #drop(key: string): void {
    for (const read of this.#reads.get(key) ?? []) read.isSpoiled = true;
    if (!this.#link.hasRoom) return this.#dropped.addAll();
    const drop = this.#dropped.add(key);
    void this.#link.ask('delete', key, async () => {
      await this.#options.delete(key);
      this.#dropped.delete(key, drop);
    });
  }

  #fill(text: string, read: FillingRead, ageMs: number): void {
    const { key } = read;
    const { ttlMs, set } = this.#options;
    const leftMs = ttlMs * (1 - JITTER * this.#random()) - ageMs;
    if (read.isSpoiled || !this.#link.isUsable || leftMs <= 0) return this.#endRead(read);
    void this.#link.ask('set', key, async () => {
      try {
        await set(key, text, Math.ceil(leftMs));
        if (!read.isSpoiled) this.#dropped.delete(key);
      } finally {
        // A write has ended meanwhile: the cache may have got the order wrong.
        if (read.isSpoiled) this.#drop(key);
        this.#endRead(read);
      }
    });
  }

  #beginRead(entry: Pick<FillingRead, 'key' | 'id'>): FillingRead {
    const read: FillingRead = {
      ...entry,
      beganAtMs: this.#clock.now(),
      beganAtWallMs: this.#getWallTime(),
      isSpoiled: false,
    };
    const reads = this.#reads.get(read.key) ?? new Set();
    this.#reads.set(read.key, reads.add(read));
    return read;
  }

  #endRead(read: FillingRead): void {
    const reads = this.#reads.get(read.key);
    reads?.delete(read);
    if (reads?.size === 0) this.#reads.delete(read.key);
  }

  /** Returns `undefined` for a result that is not cached. */
  #format(
    operation: Operation,
    result: unknown,
    { id }: FillingRead,
    ageMs: number,
  ): string | undefined {
    if (result === skipLevel || id === undefined) return undefined;
    const view = isValueWithDetails(result)
      ? { value: result.value, ...result.details }
      : { value: result };
    try {
      const readAtMs = this.#getWallTime() - ageMs;
      return formatEntry({ ...view, id, readAtMs }, operation);
    } catch (error) {
      this.#reportOnce(error, operation, 'set');
      return undefined;
    }
  }

  #reportOnce(
    error: unknown,
    { name, key = '' }: Operation,
    action: CacheAsideFailure['action'],
  ): void {
    if (this.#reported.has(name)) return;
    this.#reported.add(name);
    this.#report(error, { action, key });
  }

  #report(error: unknown, failure: CacheAsideFailure): void {
    const { onError } = this.#options;
    const description = `cacheAside: ${failure.action} "${failure.key}" failed`;
    reportFailure(error, description, onError && (() => onError(error, failure)));
  }

  #toId(operation: Operation, context: LevelContext): string | undefined {
    const hash = this.#origin.operationHash?.(operation.name);
    return toEntryId(operation, context, hash);
  }

  #getWallTime(): number {
    return this.#clock.wallNow?.() ?? this.#clock.now();
  }
}
