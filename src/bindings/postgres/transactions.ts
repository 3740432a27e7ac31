/**
 * `readVersions` and `commit` over the table of values: all that a transaction over this store
 * needs (docs/spec/transactions.md).
 *
 * A version is the transaction that has written the row, and a hash of the value. Any statement
 * that writes the row changes it, also one of another program. After a failover, the new primary
 * may use the number of a lost transaction again, and then the hash differs. Keys without a row
 * have one version: it names one state, as all do.
 */
import type { Operation } from '../../correctable/operation.ts';
import { checkCommitArgs, checkReadVersionsArgs } from '../../operations/check-transaction-args.ts';
import type { CommitResult, VersionedValue } from '../../operations/index.ts';
import type { Page } from '../shared/statements/page.ts';
import { checkText, toStoredJson } from './own-arguments.ts';
import { parseJsonColumn } from './own-columns.ts';
import type { TableNames } from './table-names.ts';
import { MIGRATIONS_HINT, type SqlOperation } from './plan.ts';

const ABSENT = 'none';
const VERSION = `coalesce(v.xmin::text || ':' || jsonb_hash_extended(v.value, 0), '${ABSENT}')`;

type Tables = Pick<TableNames, 'values' | 'commit'>;

/**
 * Returns the SQL of the function that checks versions and writes. In one statement, a client needs
 * one round trip for it, and holds no locks while its messages travel.
 */
export function createCommitFunction({ values, commit }: Tables): string {
  return `create or replace function ${commit}(
  read_keys text[], read_versions text[], write_keys text[], write_values text[]
) returns text[] language plpgsql as $$
declare
  keys text[] := array(select distinct k from unnest(read_keys || write_keys) as k order by k);
  locked int := 0;
  absent text[] := '{}';
  changed text[];
begin
  -- Locks the rows of all keys until the end. A key without a row gets one for that time.
  -- All transactions lock in the same order, so that no two wait for each other.
  while cardinality(write_keys) > 0 and locked < cardinality(keys) loop
    with held as (
      insert into ${values} (key, value) select k, 'null' from unnest(keys) as k
      on conflict (key) do nothing returning key
    ) select absent || coalesce(array_agg(key), '{}') into absent from held;
    -- If another statement has deleted a row in between, it is missing here, and the loop tries again.
    with present as (
      select from ${values} where key = any(keys) order by key for no key update
    ) select count(*) into locked from present;
  end loop;
  select array_agg(r.key order by r.at) into changed
  from unnest(read_keys, read_versions) with ordinality as r (key, version, at)
  left join ${values} as v on v.key = r.key and v.key <> all(absent)
  where ${VERSION} <> r.version;
  if changed is null then
    insert into ${values} (key, value)
    select distinct on (w.key) w.key, w.value::jsonb
    from unnest(write_keys, write_values) with ordinality as w (key, value, at)
    order by w.key, w.at desc
    on conflict (key) do update set value = excluded.value;
  end if;
  delete from ${values} where key = any(absent) and (changed is not null or key <> all(write_keys));
  return coalesce(changed, '{}');
end $$;`;
}

export function createTransactionOperations({
  values,
  commit,
}: Tables): readonly (readonly [string, SqlOperation])[] {
  const read = `select ${VERSION} as version, case when ${VERSION} is distinct from r.known then v.value::text end as value
    from unnest($1::text[], $2::text[]) with ordinality as r (key, known, at)
    left join ${values} as v on v.key = r.key order by r.at`;
  const check = `select coalesce(json_agg(r.key order by r.at), '[]')::text as changed
    from unnest($1::text[], $2::text[]) with ordinality as r (key, version, at)
    left join ${values} as v on v.key = r.key where ${VERSION} <> r.version`;
  const write = `select array_to_json(${commit}($1, $2, $3, $4))::text as changed`;

  const readVersionsOperation: SqlOperation = {
    access: 'read',
    plan({ args }) {
      const { keys, known } = checkReadVersionsArgs((args ?? {}) as object);
      const versions = keys.map((_, at) => toText(known?.[at]));
      return {
        name: 'readVersions',
        access: 'read',
        isIdempotent: true,
        hint: MIGRATIONS_HINT,
        statement: {
          text: read,
          values: [checkTexts(keys, 'args.keys'), versions],
        },
        interpret: ({ rows }) => ({
          value: rows.map(({ version, value }, at): VersionedValue => {
            const isLeftOut = version === ABSENT || version === versions[at];
            return {
              version: version as string,
              ...(!isLeftOut && { value: parseJsonColumn(value) }),
            };
          }),
        }),
      };
    },
  };
  const commitOperation: SqlOperation = {
    access: 'write',
    plan: (operation) => ({
      name: 'commit',
      access: 'write',
      isIdempotent: false,
      hint: MIGRATIONS_HINT,
      statement: {
        text: write,
        values: [...bindReads(operation), ...bindWrites(operation)],
      },
      interpret: toResult,
    }),
    // The same check at the replica.
    preview: (operation) => ({
      statement: { text: check, values: bindReads(operation) },
      interpret: toResult,
    }),
  };
  return [
    ['readVersions', readVersionsOperation],
    ['commit', commitOperation],
  ];
}

type Columns = readonly [readonly string[], readonly string[]];

function bindReads({ args }: Operation): Columns {
  const { reads } = checkCommitArgs((args ?? {}) as object);
  const keys = reads.map(({ key }) => key);
  const versions = reads.map(({ version }) => String(version));
  return [checkTexts(keys, 'args.reads'), checkTexts(versions, 'args.reads')];
}

function bindWrites({ args }: Operation): Columns {
  const { writes } = checkCommitArgs((args ?? {}) as object);
  const keys = writes.map(({ key }) => key);
  const values = writes.map(({ value }, at) => {
    const field = `args.writes[${at}].value`;
    return toStoredJson(value, { name: 'commit', field });
  });
  return [checkTexts(keys, 'args.writes'), values];
}

function checkTexts(texts: readonly string[], field: string): readonly string[] {
  return texts.map((text) => checkText(text, field));
}

function toText(version: string | number | null | undefined): string | null {
  return version === null || version === undefined ? null : String(version);
}

function toResult({ rows: [row] }: Page): { value: CommitResult } {
  const changed = parseJsonColumn(row?.['changed']) as readonly string[];
  return { value: { committed: changed.length === 0, changed } };
}
