/**
 * `correctables/bindings/cache/node`: cached views that outlive a Node process, in a directory. Needs the package
 * `classic-level`.
 */
import { deserialize, serialize } from 'node:v8';
import { ClassicLevel } from 'classic-level';
import { check } from '../../correctable/errors.ts';
import { checkRecord, isName } from '../../correctable/given.ts';
import type { CacheChange, CacheEntry, CacheStore } from './store.ts';

/** What `directoryStore` is made from. */
export interface DirectoryStoreOptions {
  /** The directory, made where it is missing. One process at a time can have it open. */
  readonly directory: string;
}

const CALL = "directoryStore({ directory: './cache' })";

/**
 * Keeps a cache in a directory, unencrypted. Writes are not synced: what a power cut takes is a miss.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` where the directory is missing
 * @example
 * const binding = cached(remote({ url, levels }), { store: directoryStore({ directory: './cache' }) });
 */
export function directoryStore(options: DirectoryStoreOptions): CacheStore {
  checkRecord(options, { call: CALL });
  const { directory } = options;
  check(isName(directory), 'directory', `must be the path of a directory: write ${CALL}`);
  let opened: Database | undefined;
  const database = (): Database =>
    (opened ??= new ClassicLevel<string, Uint8Array>(directory, { valueEncoding: 'view' }));
  return {
    load: () => loadAll(database()),
    // One process at a time has the directory: there is nobody whose writes would have to be looked at.
    write: (changes) => database().batch(changes.map(operationOf)),
    close: async () => {
      const closing = opened;
      opened = undefined;
      await closing?.close();
    },
  };
}

type Database = ClassicLevel<string, Uint8Array>;
type Put = { readonly type: 'put'; readonly key: string; readonly value: Uint8Array };
type Operation = Put | { readonly type: 'del'; readonly key: string };

/** What cannot be written, a Blob for example, is a miss, and keeps nothing else from being written. */
function operationOf([key, entry]: CacheChange): Operation {
  if (entry === undefined) return { type: 'del', key };
  try {
    return { type: 'put', key, value: serialize(entry) };
  } catch (error) {
    process.emitWarning(`cache: a view cannot be kept in a directory: ${String(error)}`);
    return { type: 'del', key };
  }
}

/** Everything that can be read; what cannot, damaged or of a newer format, is a miss and leaves the directory. */
async function loadAll(database: Database): Promise<[string, CacheEntry][]> {
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
