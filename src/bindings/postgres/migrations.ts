/** The tables of the binding's own operations, as SQL that a team can review. */
import { checkOptionNames } from '../../correctable/validate.ts';
import { getTableNames } from './table-names.ts';
import { createCommitFunction } from './transactions.ts';

export interface MigrationOptions {
  /** The schema of the tables. Default: `public` */
  readonly schema?: string | undefined;
}

/**
 * Returns the statements that create the tables of `get`, `put`, `enqueue` and the like, and of
 * idempotency keys, and the function that commits transactions. Run them at the primary, when you
 * deploy. Your own statements need no table, unless you use such keys.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option
 * @example
 * await pool.query(migrations());
 */
export function migrations(options: MigrationOptions = {}): string {
  checkOptionNames(options, { call: "migrations({ schema: 'public' })" }, { schema: true });
  const names = getTableNames(options.schema);
  const { values, queues, keys, consumers } = names;
  return `create table if not exists ${values} (
  key text primary key,
  value jsonb not null
);
create table if not exists ${queues} (
  queue text not null,
  id bigint generated always as identity,
  item jsonb not null,
  primary key (queue, id)
);
create table if not exists ${consumers} (
  id text primary key,
  max_in_flight int not null,
  min_slot_interval_ms double precision not null,
  seen_at timestamptz not null default now()
);
create table if not exists ${keys} (
  key text primary key,
  operation text not null,
  result json,
  written_at timestamptz not null default now()
);
${createCommitFunction(names)}
`;
}
