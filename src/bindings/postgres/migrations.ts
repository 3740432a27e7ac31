/** The tables of the binding's own operations, as SQL that a team can review. */
import { check } from '../../correctable/errors.ts';
import { checkOptionNames } from '../../correctable/validate.ts';

export interface MigrationOptions {
  /** The schema of the tables. Default: `public` */
  readonly schema?: string | undefined;
}

const NAME = /^[A-Za-z_]\w{0,62}$/;

export interface TableNames {
  readonly values: string;
  readonly queues: string;
  readonly keys: string;
  readonly consumers: string;
}

/** @throws CorrectableError `INVALID_ARGUMENT` for a name that is no identifier */
export function getTableNames(schema: string = 'public'): TableNames {
  check(
    typeof schema === 'string' && NAME.test(schema),
    'schema',
    'give a name of up to 63 letters, digits and _',
  );
  return {
    values: `"${schema}".correctables_values`,
    queues: `"${schema}".correctables_queues`,
    keys: `"${schema}".correctables_idempotency_keys`,
    consumers: `"${schema}".correctables_consumers`,
  };
}

/**
 * Returns the statements that create the tables of `get`, `put`, `enqueue` and
 * the like, and of idempotency keys. Run them once, when you deploy: at the
 * primary. Your own statements need no table, unless you use such keys.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option
 * @example
 * await pool.query(migrations());
 */
export function migrations(options: MigrationOptions = {}): string {
  checkOptionNames(
    options,
    { call: "migrations({ schema: 'public' })" },
    { schema: true },
  );
  const { values, queues, keys, consumers } = getTableNames(options.schema);
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
`;
}
