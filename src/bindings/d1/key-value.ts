/** `get`, `getMany`, `put` and `remove` over one table (`migrations`). */
import type { GetArgs, GetManyArgs, PutArgs, RemoveArgs } from '../../operations/index.ts';
import type { Row } from '../shared/statements/page.ts';
import { createUnreadableError } from '../shared/unreadable-error.ts';
import { checkKeys } from '../shared/check-keys.ts';
import { toExactJson } from '../shared/to-json.ts';
import { checkText, checkWellFormed } from '../shared/well-formed-text.ts';
import type { D1Operation, D1Plan } from './plan.ts';
import { MIGRATIONS_HINT, VALUES_TABLE } from './migrations.ts';

const SELECT = `select key, value from ${VALUES_TABLE} where key = ?1`;
/** One parameter for all keys: a statement of D1 has 100 at most. */
const SELECT_MANY = `select key, value from ${VALUES_TABLE} where key in (select value from json_each(?1))`;
const UPSERT = `insert into ${VALUES_TABLE} (key, value) values (?1, ?2) on conflict (key) do update set value = excluded.value`;
const DELETE = `delete from ${VALUES_TABLE} where key = ?1`;

type Planned = Pick<D1Plan, 'interpret'> & {
  readonly text: string;
  readonly values: readonly unknown[];
};

const define = (
  name: string,
  access: D1Plan['access'],
  plan: (args: unknown) => Planned,
): readonly [string, D1Operation] => [
  name,
  {
    access,
    plan({ args }) {
      const { interpret, ...statement } = plan(args ?? {});
      return {
        name,
        access,
        statements: [statement],
        resultAt: 0,
        isIdempotent: access === 'read',
        hint: MIGRATIONS_HINT,
        interpret,
      };
    },
  },
];

const noValue = (): { value: undefined } => ({ value: undefined });

export const keyValueOperations: readonly (readonly [string, D1Operation])[] = [
  define('get', 'read', (args) => ({
    text: SELECT,
    values: [checkText((args as Partial<GetArgs>).key, 'args.key')],
    interpret: ({ rows: [row] }) => ({ value: decode('get', row) }),
  })),
  define('getMany', 'read', (args) => {
    const keys = checkKeys((args as Partial<GetManyArgs>).keys);
    return {
      text: SELECT_MANY,
      values: [JSON.stringify(keys)],
      interpret({ rows }) {
        const values = new Map(rows.map((row) => [row['key'], decode('getMany', row)]));
        return { value: keys.map((key) => values.get(key)) };
      },
    };
  }),
  define('put', 'write', (args) => {
    const { key: input, value } = args as Partial<PutArgs>;
    const key = checkText(input, 'args.key');
    const json = toExactJson(value, { name: 'put', field: 'args.value' });
    checkWellFormed(value, 'args.value');
    return { text: UPSERT, values: [key, json], interpret: noValue };
  }),
  define('remove', 'write', (args) => ({
    text: DELETE,
    values: [checkText((args as Partial<RemoveArgs>).key, 'args.key')],
    interpret: noValue,
  })),
];

/** @throws CorrectableError `INVALID_VALUE` for what another program wrote */
function decode(operation: string, row: Row | undefined): unknown {
  if (row === undefined) return undefined;
  try {
    return JSON.parse(row['value'] as string) as unknown;
  } catch (cause) {
    const key = String(row['key']);
    throw createUnreadableError({ operation, key, cause });
  }
}
