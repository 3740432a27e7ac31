/** `get`, `put` and `getMany` over one simple table (`keyValueTable`). Versions are the times of writing. */
import { CorrectableError, invalidArgument } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { requireWholeText } from '../../engine-client/whole-text.ts';
import type { GetArgs, GetManyArgs, PutArgs } from '../../operations/index.ts';
import type { Meaning, Plan, Planner } from './plan.ts';
import type { Page } from './read-path.ts';
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
  const clock = new WriteClock();
  const select = `SELECT key, value, WRITETIME(value) AS written FROM ${name} WHERE key`;
  const hint = `the table is made by what keyValueTable({ keyspace: '${keyspace}', table: '${table}' }) says, or by createTable: true`;
  const insert = `INSERT INTO ${name} (key, value) VALUES (?, ?)`;
  return new Map<string, Planner>([
    ['get', (operation) => ({ ...getPlan(operation, `${select} = ?`, codec), hint })],
    ['getMany', (operation) => ({ ...getManyPlan(operation, `${select} IN ? LIMIT ${MANY_MAX}`, codec), hint })],
    ['put', (operation) => ({ ...putPlan(operation, { cql: insert, codec, clock }), hint })],
  ]);
}

const READ = {
  effect: 'read',
  isIdempotent: true,
  pageState: undefined,
  isPaged: false,
  timestamp: undefined,
} as const;

/** One more row than there can be, so that the first page is known to be the last. */
function getPlan({ args }: Operation, cql: string, codec: ValueCodec): Plan {
  const key = keyOf((args as Partial<GetArgs> | undefined)?.key, 'args.key');
  return {
    ...READ,
    name: 'get',
    cql,
    params: [key],
    ids: [key],
    pageSize: 2,
    meaningOf(page) {
      const { value, version } = entriesOf(page, codec).get(key) ?? ABSENT;
      return { value, version, objects: [{ id: key, version }] };
    },
  };
}

/** Each key for itself: Cassandra has no snapshot over several partitions. */
function getManyPlan({ args }: Operation, cql: string, codec: ValueCodec): Plan {
  const given: unknown = (args as Partial<GetManyArgs> | undefined)?.keys;
  if (!Array.isArray(given)) throw invalidArgument('args.keys', 'give a list of keys');
  if (given.length > MANY_MAX) throw invalidArgument('args.keys', `give at most ${MANY_MAX} keys, not ${given.length}`);
  const keys = given.map((key: unknown, at) => keyOf(key, `args.keys[${at}]`));
  return {
    ...READ,
    name: 'getMany',
    cql,
    params: [keys],
    ids: keys,
    // A page that holds whatever the statement can give: to fill pages, Cassandra reads one partition after the other.
    pageSize: MANY_MAX,
    meaningOf(page): Meaning {
      const entries = entriesOf(page, codec);
      return {
        value: keys.map((key) => entries.get(key)?.value),
        version: undefined,
        objects: keys.map((id) => ({ id, version: entries.get(id)?.version })),
      };
    },
  };
}

interface Writing {
  readonly cql: string;
  readonly codec: ValueCodec;
  readonly clock: WriteClock;
}

/** Repeated with the same time of writing it is the same write. */
function putPlan({ args }: Operation, { cql, codec, clock }: Writing): Plan {
  const { key: given, value } = (args ?? {}) as Partial<PutArgs>;
  const key = keyOf(given, 'args.key');
  const text = codec.encode(value);
  const timestamp = clock.next();
  const written: Meaning = { value: undefined, version: timestamp, objects: [{ id: key, version: timestamp }] };
  return {
    name: 'put',
    effect: 'update',
    cql,
    params: [key, text],
    ids: [key],
    isIdempotent: true,
    pageSize: 1,
    pageState: undefined,
    isPaged: false,
    timestamp,
    meaningOf: () => written,
  };
}

interface Entry {
  readonly value: unknown;
  readonly version: number | undefined;
}

const ABSENT: Entry = { value: undefined, version: undefined };

function entriesOf({ rows }: Page, codec: ValueCodec): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const { key, value, written } of rows) {
    const isThere = typeof value === 'string';
    const version = typeof written === 'bigint' ? Number(written) : undefined;
    entries.set(String(key), { value: isThere ? decoded(codec, value, String(key)) : undefined, version });
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

const MICROSECONDS_PER_MS = 1_000;

/** Times of writing of one binding: each later than the one before, also within a millisecond or when the clock steps back. */
class WriteClock {
  #last = 0;

  next(): number {
    this.#last = Math.max(Date.now() * MICROSECONDS_PER_MS, this.#last + 1);
    return this.#last;
  }
}
