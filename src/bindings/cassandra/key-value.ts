/**
 * `get`, `put` and `getMany` over one simple table (`getKeyValueTableCql`). Versions are the times
 * of writing.
 */
import { createHash } from 'node:crypto';
import type { Operation } from '../../correctable/operation.ts';
import { checkRecord } from '../../correctable/validate.ts';
import { checkKeys, MAX_KEYS } from '../shared/check-keys.ts';
import { CODEC_ADVICE, createUnreadableError } from '../shared/unreadable-error.ts';
import { checkText, checkWellFormed } from '../shared/well-formed-text.ts';
import type { GetArgs, GetManyArgs, PutArgs } from '../../operations/index.ts';
import type { ReadResult, StatementPlan, Planner } from './statement-plan.ts';
import { checkIdentifier } from './options.ts';
import type { Page } from './read-strategy.ts';
import { writeClock } from './session-guarantees/write-clock.ts';
import type { ValueCodec } from './value-converter.ts';

/** Options of `getKeyValueTableCql`: the keyspace and name of the table. */
export interface KeyValueTableOptions {
  readonly keyspace: string;
  readonly table?: string | undefined;
}

/**
 * Returns the statement that creates the table of `get`, `put` and `getMany`. Run it once, when you
 * deploy. Its `read_repair` keeps strong reads from going back in time. You can pass the options of
 * `cassandra` too.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if CQL does not accept a name as it is
 * @example
 * // CREATE TABLE IF NOT EXISTS shop.correctables_values …
 * console.log(getKeyValueTableCql({ keyspace: 'shop' }));
 */
export function getKeyValueTableCql(options: KeyValueTableOptions): string {
  checkRecord(options, { call: "getKeyValueTableCql({ keyspace: 'shop' })" });
  const { keyspace, table = 'correctables_values' } = options;
  const name = `${checkIdentifier('keyspace', keyspace)}.${checkIdentifier('table', table)}`;
  return `CREATE TABLE IF NOT EXISTS ${name} (key text PRIMARY KEY, value text) WITH read_repair = 'BLOCKING'`;
}

export interface KeyValueOptions {
  readonly keyspace: string;
  readonly table: string;
  readonly codec: ValueCodec;
}

export function createKeyValuePlanners({
  keyspace,
  table,
  codec,
}: KeyValueOptions): ReadonlyMap<string, Planner> {
  const name = `${keyspace}.${table}`;
  const select = `SELECT key, value, WRITETIME(value) AS written FROM ${name} WHERE key`;
  const hint = `create the table with the statement of getKeyValueTableCql({ keyspace: '${keyspace}', table: '${table}' }), or set createTable: true`;
  const insert = `INSERT INTO ${name} (key, value) VALUES (?, ?)`;
  const getObjectId = (key: string): string => `${name} ${key}`;
  const shared = { codec, getObjectId, hint };
  return new Map<string, Planner>([
    ['get', (operation) => planGet(operation, { ...shared, cql: `${select} = ?` })],
    [
      'getMany',
      (operation) =>
        planGetMany(operation, {
          ...shared,
          cql: `${select} IN ? LIMIT ${MAX_KEYS}`,
        }),
    ],
    ['put', (operation) => planPut(operation, { ...shared, cql: insert })],
  ]);
}

interface KeyValueStatement {
  readonly cql: string;
  readonly codec: ValueCodec;
  /**
   * Returns the name of a key's object among the objects of all tables. The process shares the
   * write times of objects.
   */
  readonly getObjectId: (key: string) => string;
  readonly hint: string;
}

const READ_ACCESS = { access: 'read', isIdempotent: true } as const;

/** Requests one row more than there can be, so that the first page is certainly the last. */
function planGet(
  { args }: Operation,
  { cql, codec, getObjectId, hint }: KeyValueStatement,
): StatementPlan {
  const key = checkText((args as Partial<GetArgs> | undefined)?.key, 'args.key');
  return {
    ...READ_ACCESS,
    name: 'get',
    cql,
    hint,
    params: [key],
    ids: [getObjectId(key)],
    pageSize: 2,
    interpretPage(page) {
      const { value, version, content } = decodeEntries('get', page, codec).get(key) ?? ABSENT;
      return {
        value,
        version,
        objects: [{ id: getObjectId(key), version, content }],
      };
    },
  };
}

/** Reads each key separately, because Cassandra has no snapshot over several partitions. */
function planGetMany(
  { args }: Operation,
  { cql, codec, getObjectId, hint }: KeyValueStatement,
): StatementPlan {
  const keys = checkKeys((args as Partial<GetManyArgs> | undefined)?.keys);
  return {
    ...READ_ACCESS,
    name: 'getMany',
    cql,
    hint,
    params: [keys],
    ids: keys.map(getObjectId),
    // One page holds everything that the statement can return. To fill smaller pages, Cassandra
    // would read one partition after the other.
    pageSize: MAX_KEYS,
    interpretPage(page): ReadResult {
      const entries = decodeEntries('getMany', page, codec);
      return {
        value: keys.map((key) => entries.get(key)?.value),
        version: undefined,
        objects: keys.map((key) => {
          const { version, content } = entries.get(key) ?? ABSENT;
          return { id: getObjectId(key), version, content };
        }),
      };
    },
  };
}

/** A resend with the same write time is the same write. */
function planPut(
  { args }: Operation,
  { cql, codec, getObjectId, hint }: KeyValueStatement,
): StatementPlan {
  const { key: input, value } = (args ?? {}) as Partial<PutArgs>;
  const key = checkText(input, 'args.key');
  const text = checkWellFormed(codec.encode(value), 'args.value');
  const id = getObjectId(key);
  const timestamp = writeClock.next(id);
  const content = hashContent(text);
  const written: ReadResult = {
    value: undefined,
    version: timestamp,
    objects: [{ id, version: timestamp, content }],
  };
  return {
    name: 'put',
    access: 'write',
    cql,
    hint,
    params: [key, text],
    ids: [id],
    isIdempotent: true,
    pageSize: 1,
    timestamp,
    isSingleMutation: true,
    interpretPage: () => written,
  };
}

interface StoredEntry {
  readonly value: unknown;
  readonly version: number | undefined;
  readonly content: string | undefined;
}

interface Place {
  readonly operation: string;
  readonly key: string;
}

const ABSENT: StoredEntry = {
  value: undefined,
  version: undefined,
  content: undefined,
};

function decodeEntries(
  operation: string,
  { rows }: Page,
  codec: ValueCodec,
): Map<string, StoredEntry> {
  const entries = new Map<string, StoredEntry>();
  for (const { key, value, written } of rows) {
    const version = typeof written === 'bigint' ? Number(written) : undefined;
    const isThere = typeof value === 'string';
    const content = isThere ? hashContent(value) : undefined;
    entries.set(String(key), {
      value: isThere ? decodeEntry(codec, value, { operation, key: String(key) }) : undefined,
      version,
      content,
    });
  }
  return entries;
}

function decodeEntry(codec: ValueCodec, text: string, { operation, key }: Place): unknown {
  try {
    return codec.decode(text);
  } catch (cause) {
    throw createUnreadableError({ operation, key, cause, advice: CODEC_ADVICE });
  }
}

const FINGERPRINT_LENGTH = 24;

/** The hash is short, because it is kept for many keys. */
function hashContent(text: string): string {
  if (text.length <= FINGERPRINT_LENGTH) return text;
  return `${text.length}:${createHash('sha256').update(text).digest('base64').slice(0, FINGERPRINT_LENGTH)}`;
}
