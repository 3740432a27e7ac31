/** `get`, `getMany`, `put` and `remove` over one table (`migrations`). */
import type { GetArgs, GetManyArgs, PutArgs, RemoveArgs } from '../../operations/index.ts';
import { checkKeys, checkText, toStoredJson } from './own-arguments.ts';
import { parseJsonColumn } from './own-columns.ts';
import { MIGRATIONS_HINT, type SqlOperation } from './plan.ts';

const READ = { access: 'read', isIdempotent: true, hint: MIGRATIONS_HINT } as const;
const WRITE = { access: 'write', isIdempotent: false, hint: MIGRATIONS_HINT } as const;

const noValue = (): { value: undefined } => ({ value: undefined });

/** @param table the name of the table, quoted */
export function createKeyValueOperations(
  table: string,
): readonly (readonly [string, SqlOperation])[] {
  const select = `select key, value::text from ${table} where key`;
  const insert = `insert into ${table} (key, value) values ($1, $2::jsonb) on conflict (key) do update set value = excluded.value`;
  const remove = `delete from ${table} where key = $1`;

  const getOperation: SqlOperation = {
    access: 'read',
    plan({ args }) {
      const key = checkText((args as Partial<GetArgs>)?.key, 'args.key');
      return {
        ...READ,
        name: 'get',
        statement: { text: `${select} = $1`, values: [key] },
        interpret: ({ rows: [row] }) => ({
          value: parseJsonColumn(row?.['value']),
        }),
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
          const values = new Map(rows.map((row) => [row['key'], parseJsonColumn(row['value'])]));
          return { value: keys.map((key) => values.get(key)) };
        },
      };
    },
  };
  const putOperation: SqlOperation = {
    access: 'write',
    plan({ args }) {
      const { key: input, value } = (args ?? {}) as Partial<PutArgs>;
      const key = checkText(input, 'args.key');
      const json = toStoredJson(value, { name: 'put', field: 'args.value' });
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
