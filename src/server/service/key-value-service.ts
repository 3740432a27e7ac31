/**
 * The ready key-value service, whose `commit` is a transaction of deferred update (SDUR, DSN 2013,
 * §3): the generator compares the versions that the client has read, and the red order certifies
 * what the generator has read.
 *
 * All writes are red. A blue `put` has no place in the red order, so no commit could be certified
 * against it.
 *
 * A refused commit is certified too: `{ committed: false }` at `strong` is true at its place in the
 * red order, even if the site that received the commit was behind the client.
 */
import { keyValue } from '../../contract/key-value.ts';
import type { Version, VersionedValue } from '../../operations/index.ts';
import type { TablesReader } from './readers.ts';
import { defineService, type Service } from './service.ts';
import { red } from './shadow-operation.ts';
import { cell, table } from './tables.ts';

/** The version of a key that was never written. */
const NEVER_WRITTEN = '';

/** One cell has both parts, so that a read and a write of a key name one field each. */
interface Entry {
  /** Unique for each write. A counter would repeat after a log is restored. */
  readonly version: string;
  readonly value?: unknown;
}

interface Write {
  readonly version: string;
  readonly writes: readonly {
    readonly key: string;
    readonly value?: unknown;
  }[];
}

const tables = { keys: table({ entry: cell<Entry>() }, { partition: 'key' }) };

/**
 * Values by key with optimistic transactions: the service of the contract `keyValue`. `commit`
 * applies all writes if each key that was read still has its version, otherwise none.
 *
 * In a deployment with `partitions`, the part of a key before its first `/` names its partition. A
 * commit is decided in that of the first key that it writes.
 *
 * If others keep changing what a commit has read, it fails with `CONFLICT` after `maxAttempts`
 * executions. Nothing was written then.
 *
 * @example
 * const deployment = createEmbedded(keyValueService, { sites: ['ireland', 'frankfurt'] });
 * const store = createClient(deployment.site('ireland'));
 * await store.invoke(put('user:7:name', 'Ada'));
 */
export const keyValueService: Service = defineService(keyValue, {
  tables,
  shadowOperations: ({ keys }) => ({
    write: red(({ version, writes }: Write) =>
      writes.map(({ key, value }) => keys.row(key).entry.assign({ version, value })),
    ),
  }),
  generators: {
    get: ({ key }, { tables }) => tables.keys.row(key).entry?.value,
    getMany: ({ keys }, { tables }) => keys.map((key) => tables.keys.row(key).entry?.value),
    readVersions: ({ keys, known = [] }, { tables }) =>
      keys.map((key, at) => readVersion(tables, key, known[at])),
    put: ({ key, value }, { shadow, uniqueId }) =>
      shadow.write({ version: uniqueId(), writes: [{ key, value }] }, undefined),
    commit: ({ reads, writes }, { tables, shadow, uniqueId }) => {
      const changed = reads
        .filter(({ key, version }) => getVersion(tables, key) !== version)
        .map(({ key }) => key);
      if (changed.length > 0) return { committed: false, changed: [...new Set(changed)] };

      const committed = { committed: true, changed: [] };
      // Nothing to write. Since the operation is red, its reads are certified even so.
      if (writes.length === 0) return committed;
      return shadow.write({ version: uniqueId(), writes }, committed);
    },
  },
});

type Snapshot = TablesReader<typeof tables>;

function getVersion(snapshot: Snapshot, key: string): string {
  return snapshot.keys.row(key).entry?.version ?? NEVER_WRITTEN;
}

function readVersion(
  snapshot: Snapshot,
  key: string,
  known: Version | null | undefined,
): VersionedValue {
  const { version, value } = snapshot.keys.row(key).entry ?? {
    version: NEVER_WRITTEN,
  };
  return version === known || value === undefined ? { version } : { version, value };
}
