/**
 * `correctables/bindings/cache/node`: cached views in a directory. Needs the package
 * `classic-level`.
 */
import { check } from '../../correctable/errors.ts';
import { checkRecord, isNonEmptyString } from '../../correctable/validate.ts';
import { CacheDirectory, isDamage, toDirectoryError } from './node/cache-directory.ts';
import { StoreSubscribers, type CacheStore } from './cache-store.ts';

/** Options of `directoryStore`. */
export interface DirectoryStoreOptions {
  /**
   * The directory, created if missing. Only caches may keep a database in it. Only one store on the
   * machine can have it open at a time.
   */
  readonly directory: string;
}

type Act<T> = (cache: CacheDirectory) => Promise<T>;

const CALL = "directoryStore({ directory: './cache' })";

/**
 * Creates a store that keeps a cache in a directory, unencrypted. If several caches use the
 * directory at a time, pass the same store object to all. While one of them is open, any other
 * store on the directory fails with `UNAVAILABLE`, also in another process. Its cache then
 * continues in memory. The operating system releases the lock of a killed process.
 *
 * Changes that hide views from before your writes, a `clear` or an `invalidate` are synced to disk.
 * Views of reads are not: after a power failure, the latest may be missing, or an earlier view is
 * in their place. A damaged directory is emptied, with a warning of the process. A full disk or a
 * missing permission is reported to `onError` with the path, and changes nothing.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the option is missing. If another program has a
 * LevelDB database in the directory, `onError` receives `INVALID_ARGUMENT`
 * @example
 * const binding = cached(remote({ url, levels }), {
 *   store: directoryStore({ directory: './cache' }),
 * });
 */
export function directoryStore(options: DirectoryStoreOptions): CacheStore {
  checkRecord(options, { call: CALL });
  const { directory } = options;
  check(isNonEmptyString(directory), 'directory', `must be the path of a directory: write ${CALL}`);
  const neighbors = new StoreSubscribers();
  let opened: CacheDirectory | undefined;

  const close = async (): Promise<void> => {
    const before = opened;
    opened = undefined;
    await before?.close();
  };

  // Transactions run one after the other, because each must read what the one before has written.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const done = turn.then(act);
    turn = done.catch(() => {});
    return done;
  };

  const attempt = async <T>(cache: CacheDirectory, act: Act<T>): Promise<T> => {
    try {
      return await act(cache);
    } catch (error) {
      throw cache.isBroken ? toDirectoryError(directory, error) : error;
    }
  };

  const run = <T>(act: Act<T>): Promise<T> =>
    inTurn(async () => {
      // Close the database after a failed write: until it is reopened, LevelDB may acknowledge
      // writes that it cannot read again (google/leveldb#924).
      if (opened?.isBroken === true) await close();
      const current = (opened ??= await CacheDirectory.open(directory));
      try {
        return await attempt(current, act);
      } catch (error) {
        if (!isDamage(error)) throw error;
        opened = undefined;
        opened = await current.empty(error);
        return attempt(opened, act);
      }
    });

  return {
    load: () => run((cache) => cache.readEntries()),
    write: (changes, settle, { isDurable = false } = {}) =>
      run(async (cache) => {
        const ids = changes.map(([id]) => id);
        const written = settle === undefined ? changes : settle(await cache.find(ids));
        await cache.write(written, isDurable);
      }),
    subscribe: (onNotice) => neighbors.subscribe(onNotice),
    // If another cache still uses it, another process could otherwise open the directory before
    // that cache needs it again.
    close: () => inTurn(async () => (neighbors.count > 0 ? undefined : close())),
  };
}
