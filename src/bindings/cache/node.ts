/**
 * `correctables/bindings/cache/node`: cached views that outlive a Node process, in a directory. Needs the package
 * `classic-level`.
 */
import { deserialize, serialize } from 'node:v8';
import { ClassicLevel } from 'classic-level';
import { check } from '../../correctable/errors.ts';
import { checkRecord, isName } from '../../correctable/given.ts';
import type { CacheEntry, CacheStore } from './store.ts';

/** What `directoryStore` is made from. */
export interface DirectoryStoreOptions {
  /** The directory, made where it is missing. One process at a time can have it open. */
  readonly directory: string;
}

const CALL = "directoryStore({ directory: './cache' })";

/**
 * Keeps a cache in a directory. Writes are not synced: what a power cut takes is a miss.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` where the directory is missing
 * @example
 * const binding = cached(remote({ url, levels }), { store: directoryStore({ directory: './cache' }) });
 */
export function directoryStore(options: DirectoryStoreOptions): CacheStore {
  checkRecord(options, { call: CALL });
  const { directory } = options;
  check(isName(directory), 'directory', `must be the path of a directory: write ${CALL}`);
  let opened: ClassicLevel<string, Uint8Array> | undefined;
  const database = (): ClassicLevel<string, Uint8Array> =>
    (opened ??= new ClassicLevel<string, Uint8Array>(directory, { valueEncoding: 'view' }));
  return {
    load: () => loadAll(database()),
    write: (changes) =>
      database().batch(
        changes.map(([id, entry]) =>
          entry === undefined
            ? { type: 'del' as const, key: id }
            : { type: 'put' as const, key: id, value: serialize(entry) },
        ),
      ),
    close: async () => {
      await opened?.close();
    },
  };
}

/** Everything that can be read; what cannot, damaged or of a newer format, is a miss and leaves the directory. */
async function loadAll(database: ClassicLevel<string, Uint8Array>): Promise<[string, CacheEntry][]> {
  const entries: [string, CacheEntry][] = [];
  const unreadable: string[] = [];
  for await (const [id, bytes] of database.iterator()) {
    try {
      entries.push([id, deserialize(bytes) as CacheEntry]);
    } catch (error) {
      unreadable.push(id);
      process.emitWarning(`cache: dropped a view that cannot be read in ${database.location}: ${String(error)}`);
    }
  }
  await database.batch(unreadable.map((key) => ({ type: 'del' as const, key })));
  return entries;
}
