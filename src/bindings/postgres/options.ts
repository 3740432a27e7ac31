/** The options of a PostgreSQL binding. */
import { check } from '../../correctable/errors.ts';
import {
  checkOptionNames,
  checkOptionTypes,
  hasMethods,
  isNonEmptyString,
  isRecord,
  type OptionNamesOf,
} from '../../correctable/validate.ts';
import type { Throttle } from '../../correctable/throttle/concurrent-writes.ts';
import type { ReplicasOptions } from '../replicas/index.ts';
import { checkCount, checkDuration } from '../shared/check-number.ts';
import type { CheckedStatement } from '../shared/statements/statement-catalog.ts';
import type { DriverPool, PostgresDriver } from './driver.ts';
import { OpenedServer } from './connections/opened-server.ts';
import { standardPositions, type PostgresPositions } from './position.ts';
import { PoolServer } from './connections/pool-server.ts';
import { RunnerServer, type PostgresServer, type RunStatements } from './connections/server.ts';
import { getStatements, type Statements } from './statements/statements.ts';

/** The address of one server, as `pg.Pool` takes it. Its other options fit too. */
export interface PostgresAddress {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly user?: string | undefined;
  readonly database?: string | undefined;
  readonly connectionString?: string | undefined;
}

/**
 * Where a server is, in one of these forms:
 *
 * - an address, as `postgres://ada@10.0.0.1/shop`, or options of `pg.Pool`: the binding makes a
 *   pool of its own
 * - a `pg.Pool` of yours, made with `pipeline: true`, which stays yours
 * - `{ run }`, for a library that has its own connections
 */
export type PostgresConnection =
  | string
  | DriverPool
  | { readonly run: RunStatements }
  | PostgresAddress
  | Readonly<Record<string, unknown>>;

export interface PostgresOptions extends ReplicasOptions {
  /**
   * The primary: an address, options of `pg.Pool`, a `pg.Pool` with `pipeline: true`, or `{ run }`.
   * All writes go there.
   */
  readonly primary: PostgresConnection;
  /** The replicas in the same forms, the nearest first. Default: none */
  readonly replicas?: readonly PostgresConnection[] | undefined;
  /**
   * The application's own statements, made by `defineStatements` or `implementStatements`. Default:
   * none
   */
  readonly statements?: Statements | readonly Statements[] | undefined;
  /**
   * How many dequeues of one queue are in flight at a time. Others wait. Other processes read the
   * value: it bounds how many of these dequeues their early views cannot include. Default: `100`
   */
  readonly maxInFlight?: number | undefined;
  /**
   * How soon a slot of `maxInFlight` is reused, in milliseconds. Other processes read this value
   * too. Set it if several processes take from one queue. Without it, `getSafeThreshold` permits no
   * early decision. Default: `0`
   */
  readonly minSlotIntervalMs?: number | undefined;
  /** The schema of the tables that `migrations` makes. Default: `public` */
  readonly schema?: string | undefined;
  /**
   * Whether statements are prepared by name. Set `false` behind a pooler that changes the
   * connection and does not know prepared statements, as PgBouncer before 1.21 in transaction mode.
   * Default: `true`
   */
  readonly prepare?: boolean | undefined;
  /**
   * How servers report their position, if their functions differ from those of PostgreSQL. Default:
   * `standardPositions`
   */
  readonly positions?: PostgresPositions | undefined;
  /** The module `pg`. Default: the installed one */
  readonly driver?: PostgresDriver | undefined;
}

export interface ResolvedOptions {
  /** `primary`, then the replicas by name, the nearest first. */
  readonly servers: ReadonlyMap<string, PostgresServer>;
  readonly statements: readonly CheckedStatement[];
  readonly schema: string | undefined;
  readonly throttle: Throttle;
  readonly positions: PostgresPositions;
}

const CALL =
  "postgres({ primary: 'postgres://10.0.0.1/shop', replicas: ['postgres://10.0.0.2/shop'] })";

const OPTIONS: OptionNamesOf<PostgresOptions> = {
  primary: true,
  replicas: true,
  statements: true,
  maxInFlight: true,
  minSlotIntervalMs: true,
  schema: true,
  prepare: true,
  positions: true,
  driver: true,
  tokenKey: true,
  onAlarm: true,
};

/** @throws CorrectableError `INVALID_ARGUMENT` that names the field */
export function resolveOptions(options: PostgresOptions): ResolvedOptions {
  checkOptionNames(options, { call: CALL }, OPTIONS);
  checkOptionTypes(options, 'boolean', 'prepare');
  const { replicas = [], statements = [], schema, driver } = options;
  const { positions = standardPositions, prepare = true } = options;
  check(Array.isArray(replicas), 'replicas', `must be a list of servers: write ${CALL}`);
  check(
    isRecord(positions) && isNonEmptyString(positions.sql),
    'positions',
    'must be { sql } with a SELECT of system, timeline and lsn',
  );
  check(
    driver === undefined || typeof driver?.Pool === 'function',
    'driver',
    'must be the module pg',
  );
  const throttle: Throttle = {
    maxInFlight: checkCount('maxInFlight', options.maxInFlight ?? 100),
    minSlotIntervalMs: checkDuration('minSlotIntervalMs', options.minSlotIntervalMs ?? 0),
  };
  const open = (field: string, value: PostgresConnection): PostgresServer =>
    openServer(field, value, { prepare, driver });
  const servers = new Map([['primary', open('primary', options.primary)]]);
  for (const [at, replica] of replicas.entries())
    servers.set(`replicas[${at}]`, open(`replicas[${at}]`, replica));
  return {
    servers,
    statements: getStatements(statements),
    schema,
    throttle,
    positions,
  };
}

interface ServerOptions {
  readonly prepare: boolean;
  readonly driver: PostgresDriver | undefined;
}

function openServer(
  field: string,
  value: PostgresConnection,
  { prepare, driver }: ServerOptions,
): PostgresServer {
  check(
    value !== '',
    field,
    `must not be empty. Is a variable of the environment missing? Write ${CALL}`,
  );
  if (typeof value === 'string') {
    const config = { connectionString: value };
    return new OpenedServer({ name: field, config, prepare, driver });
  }
  check(
    isRecord(value),
    field,
    `must be an address, options of pg.Pool, a pg.Pool or { run }: write ${CALL}`,
  );
  if (hasMethods(value, 'connect', 'query', 'end')) {
    const pool = value as unknown as DriverPool;
    const isPipelined = pool.options?.pipeline === true;
    const advice =
      'create the pool with pipeline: true (pg 8.23 or later), so that a read takes one round trip';
    check(isPipelined, field, advice);
    return new PoolServer({ name: field, pool, prepare, isOwned: false });
  }
  if (hasMethods(value, 'run'))
    return new RunnerServer((value as { readonly run: RunStatements }).run);
  check(!('run' in value), `${field}.run`, 'must be a function');
  const config = value as Readonly<Record<string, unknown>>;
  return new OpenedServer({ name: field, config, prepare, driver });
}
