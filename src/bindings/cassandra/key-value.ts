/** `get`, `put` and `getMany` over one simple table (`keyValueTable`). Versions are the times of writing. */
import { createHash } from 'node:crypto';
import { CorrectableError, invalidArgument } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { requireWholeText } from '../../engine-client/whole-text.ts';
import type { GetArgs, GetManyArgs, PutArgs } from '../../operations/index.ts';
import type { Meaning, Plan, Planner } from './plan.ts';
import type { Page } from './read-path.ts';
import { writeClock } from './sessions/write-clock.ts';
import type { ValueCodec } from './values.ts';

/** What the built-in operations work on. */
export interface KeyValueOptions {
  readonly keyspace: string;
  readonly table: string;
  readonly codec: ValueCodec;
}

/** Keys of one `getMany`. */
const MANY_MAX = 1_000;

/** The planners of the built-in operations, by name. */
export function keyValuePlanners({ keyspace, table, codec }: KeyValueOptions): ReadonlyMap<string, Planner> {
  const name = `${keyspace}.${table}`;
  const select = `SELECT key, value, WRITETIME(value) AS written FROM ${name} WHERE key`;
  const hint = `the table is made by what keyValueTable({ keyspace: '${keyspace}', table: '${table}' }) says, or by createTable: true`;
  const insert = `INSERT INTO ${name} (key, value) VALUES (?, ?)`;
  const idOf = (key: string): string => `${name} ${key}`;
  return new Map<string, Planner>([
    ['get', (operation) => ({ ...getPlan(operation, { cql: `${select} = ?`, codec, idOf }), hint })],
    [
      'getMany',
      (operation) => ({ ...getManyPlan(operation, { cql: `${select} IN ? LIMIT ${MANY_MAX}`, codec, idOf }), hint }),
    ],
    ['put', (operation) => ({ ...putPlan(operation, { cql: insert, codec, idOf }), hint })],
  ]);
}

interface Statement {
  readonly cql: string;
  readonly codec: ValueCodec;
  /** Names what a key stands for among the objects of all tables: what is known of their times is common to the process. */
  readonly idOf: (key: string) => string;
}

const READ = { effect: 'read', isIdempotent: true } as const;

/** One more row than there can be, so that the first page is known to be the last. */
function getPlan({ args }: Operation, { cql, codec, idOf }: Statement): Plan {
  const key = keyOf((args as Partial<GetArgs> | undefined)?.key, 'args.key');
  return {
    ...READ,
    name: 'get',
    cql,
    params: [key],
    ids: [idOf(key)],
    pageSize: 2,
    meaningOf(page) {
      const { value, version, content } = entriesOf(page, codec).get(key) ?? ABSENT;
      return { value, version, objects: [{ id: idOf(key), version, content }] };
    },
  };
}

/** Each key for itself: Cassandra has no snapshot over several partitions. */
function getManyPlan({ args }: Operation, { cql, codec, idOf }: Statement): Plan {
  const given: unknown = (args as Partial<GetManyArgs> | undefined)?.keys;
  if (!Array.isArray(given)) throw invalidArgument('args.keys', 'give a list of keys');
  if (given.length > MANY_MAX) throw invalidArgument('args.keys', `give at most ${MANY_MAX} keys, not ${given.length}`);
  const keys = given.map((key: unknown, at) => keyOf(key, `args.keys[${at}]`));
  return {
    ...READ,
    name: 'getMany',
    cql,
    params: [keys],
    ids: keys.map(idOf),
    // A page that holds whatever the statement can give: to fill pages, Cassandra reads one partition after the other.
    pageSize: MANY_MAX,
    meaningOf(page): Meaning {
      const entries = entriesOf(page, codec);
      return {
        value: keys.map((key) => entries.get(key)?.value),
        version: undefined,
        objects: keys.map((key) => {
          const { version, content } = entries.get(key) ?? ABSENT;
          return { id: idOf(key), version, content };
        }),
      };
    },
  };
}

/** Repeated with the same time of writing it is the same write. */
function putPlan({ args }: Operation, { cql, codec, idOf }: Statement): Plan {
  const { key: given, value } = (args ?? {}) as Partial<PutArgs>;
  const key = keyOf(given, 'args.key');
  const text = requireWholeText(codec.encode(value), 'args.value');
  const id = idOf(key);
  const timestamp = writeClock.next(id);
  const content = fingerprintOf(text);
  const written: Meaning = {
    value: undefined,
    version: timestamp,
    objects: [{ id, version: timestamp, content }],
  };
  return {
    name: 'put',
    effect: 'update',
    cql,
    params: [key, text],
    ids: [id],
    isIdempotent: true,
    pageSize: 1,
    timestamp,
    isOneMutation: true,
    meaningOf: () => written,
  };
}

interface Entry {
  readonly value: unknown;
  readonly version: number | undefined;
  readonly content: string | undefined;
}

const ABSENT: Entry = { value: undefined, version: undefined, content: undefined };

function entriesOf({ rows }: Page, codec: ValueCodec): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const { key, value, written } of rows) {
    const version = typeof written === 'bigint' ? Number(written) : undefined;
    const isThere = typeof value === 'string';
    const content = isThere ? fingerprintOf(value) : undefined;
    entries.set(String(key), { value: isThere ? decoded(codec, value, String(key)) : undefined, version, content });
  }
  return entries;
}

function decoded(codec: ValueCodec, text: string, key: string): unknown {
  try {
    return codec.decode(text);
  } catch (cause) {
    const message = `the value of ${JSON.stringify(key)} was not written by this codec: ${String(cause)}`;
    throw new CorrectableError('INVALID_VALUE', message, { cause });
  }
}

function keyOf(key: unknown, field: string): string {
  if (typeof key === 'string' && key !== '') return requireWholeText(key, field);
  throw invalidArgument(field, 'give a string of at least one character');
}

const FINGERPRINT_LENGTH = 24;

/** Short, whatever is kept: it is remembered for many keys. */
function fingerprintOf(text: string): string {
  if (text.length <= FINGERPRINT_LENGTH) return text;
  return `${text.length}:${createHash('sha256').update(text).digest('base64').slice(0, FINGERPRINT_LENGTH)}`;
}
