/** `get`, `getMany`, `put` and `remove` over one table (`migrations`). */
import { createInvalidArgumentError } from '../../correctable/errors.ts';
import type {
  GetArgs,
  GetManyArgs,
  PutArgs,
  RemoveArgs,
} from '../../operations/index.ts';
import { refuseTimeToLive } from '../../values/time-to-live.ts';
import { toExactJson } from '../shared/to-json.ts';
import { checkText, checkWellFormed } from '../shared/well-formed-text.ts';
import { MIGRATIONS_HINT, type SqlOperation } from './sql-plan.ts';

const MAX_KEYS = 1_000;

/** @param table the name of the table, quoted */
export function createKeyValueOperations(
  table: string,
): readonly (readonly [string, SqlOperation])[] {
  const READ = {
    access: 'read',
    isIdempotent: true,
    hint: MIGRATIONS_HINT,
  } as const;
  const WRITE = {
    access: 'write',
    isIdempotent: false,
    hint: MIGRATIONS_HINT,
  } as const;
  const select = `select key, value from ${table} where key`;
  const insert = `insert into ${table} (key, value) values ($1, $2::jsonb) on conflict (key) do update set value = excluded.value`;
  const remove = `delete from ${table} where key = $1`;
  const noValue = (): { value: undefined } => ({ value: undefined });

  const getOperation: SqlOperation = {
    access: 'read',
    plan({ args }) {
      const key = checkText((args as Partial<GetArgs>)?.key, 'args.key');
      return {
        ...READ,
        name: 'get',
        statement: { text: `${select} = $1`, values: [key] },
        interpret: ({ rows: [row] }) => ({ value: row?.['value'] }),
      };
    },
  };
  const getManyOperation: SqlOperation = {
    access: 'read',
    plan({ args }) {
      const keys = checkKeys((args as Partial<GetManyArgs>)?.keys);
      return {
        ...READ,
        name: 'getMany',
        statement: { text: `${select} = any($1::text[])`, values: [keys] },
        interpret({ rows }) {
          const values = new Map(rows.map((row) => [row['key'], row['value']]));
          return { value: keys.map((key) => values.get(key)) };
        },
      };
    },
  };
  const putOperation: SqlOperation = {
    access: 'write',
    plan(operation) {
      refuseTimeToLive(operation, 'this table');
      const { key: input, value } = (operation.args ?? {}) as Partial<PutArgs>;
      const key = checkText(input, 'args.key');
      checkWellFormed(value, 'args.value');
      const json = toExactJson(value, { name: 'put', field: 'args.value' });
      return {
        ...WRITE,
        name: 'put',
        statement: { text: insert, values: [key, json] },
        interpret: noValue,
      };
    },
  };
  const removeOperation: SqlOperation = {
    access: 'write',
    plan({ args }) {
      const key = checkText((args as Partial<RemoveArgs>)?.key, 'args.key');
      return {
        ...WRITE,
        name: 'remove',
        statement: { text: remove, values: [key] },
        interpret: noValue,
      };
    },
  };
  return [
    ['get', getOperation],
    ['getMany', getManyOperation],
    ['put', putOperation],
    ['remove', removeOperation],
  ];
}

function checkKeys(value: unknown): readonly string[] {
  if (!Array.isArray(value))
    throw createInvalidArgumentError('args.keys', 'give a list of keys');
  if (value.length > MAX_KEYS)
    throw createInvalidArgumentError(
      'args.keys',
      `give at most ${MAX_KEYS} keys, not ${value.length}`,
    );
  return value.map((key: unknown, at) => checkText(key, `args.keys[${at}]`));
}
