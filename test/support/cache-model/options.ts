/** The settings under which a schedule runs. */
import fc from 'fast-check';
import { VERSIONINGS, type Versioning } from './history.ts';

export interface CacheOptions {
  readonly versioning: Versioning;
  /**
   * Whose views the weak level gives. `one`: a replica that lags and only moves forward. `any`: of
   * any replica, so that views may go back; only where versions say which of two is the newer one.
   */
  readonly replica: 'one' | 'any';
  readonly tabs: 1 | 2 | 3;
  /**
   * Which store keeps views between pages. `simple`: a store that supports one page at a time, as
   * users of the cache may write it.
   */
  readonly store: 'shared' | 'simple' | 'none';
  readonly maxEntries: number;
  /** Whether every page opens a session at once. */
  readonly hasSessions: boolean;
  /** Whether weak views may be cached. */
  readonly isWeakCommitted: boolean;
  readonly onMiss: 'fail' | 'fetch';
  /** Whether the clock of the machine is set forward and back. */
  readonly hasClockJumps: boolean;
  readonly ttlMs: number | undefined;
}

/** Versionings whose versions order any two views of one operation. */
const ORDERED: readonly Versioning[] = ['object', 'global', 'operation'];

export const isOrdered = (versioning: Versioning): boolean => ORDERED.includes(versioning);

export const drawCacheOptions: fc.Arbitrary<CacheOptions> = fc
  .record({
    versioning: fc.constantFrom(...VERSIONINGS),
    replica: fc.constantFrom('one' as const, 'any' as const),
    tabs: fc.constantFrom(1 as const, 1 as const, 2 as const, 2 as const, 3 as const),
    store: fc.constantFrom(
      'shared' as const,
      'shared' as const,
      'simple' as const,
      'none' as const,
    ),
    maxEntries: fc.constantFrom(100, 100, 3),
    hasSessions: fc.boolean(),
    isWeakCommitted: fc.constantFrom(true, true, false),
    onMiss: fc.constantFrom('fail' as const, 'fail' as const, 'fetch' as const),
    hasClockJumps: fc.constantFrom(false, false, true),
    ttlMs: fc.constantFrom(undefined, undefined, 5_000),
  })
  .map((setting) => ({
    ...setting,
    replica: isOrdered(setting.versioning) ? setting.replica : 'one',
    store: setting.tabs > 1 && setting.store === 'simple' ? 'shared' : setting.store,
  }));
