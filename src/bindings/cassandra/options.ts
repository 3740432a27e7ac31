/** The options of a Cassandra binding. */
import { check, CorrectableError, createInvalidArgumentError } from '../../correctable/errors.ts';
import {
  checkOptionTypes,
  checkOptionNames,
  hasMethods,
  isNonEmptyString,
  isRecord,
  type OptionNamesOf,
} from '../../correctable/validate.ts';
import { parseAddress, type ServerAddress } from '../shared/server-address.ts';
import { READ_CONSISTENCIES, type Consistency } from './consistency-levels.ts';
import type { CassandraAlarm } from './access-alarms.ts';
import type { CassandraDriver } from './driver.ts';
import type { PreliminaryReplies } from './read-strategy.ts';
import { getStatements, type Statement, type Statements } from './statements/statements.ts';
import { jsonCodec, type ValueCodec } from './value-converter.ts';

export interface CassandraOptions {
  /**
   * Nodes as `host` or `host:port`, the closest first. The first one coordinates all requests, the
   * others only while it is down, in their order. Use the addresses by which the nodes know each
   * other, or those that `translateAddress` returns. Nodes do not report their ports: a node that
   * is not listed by address has the port of the first one.
   */
  readonly contactPoints: readonly string[];
  /**
   * Returns where a client reaches a node that the cluster knows by this address, as `host` or
   * `host:port`. Use it for nodes behind address translation. Default: the address itself.
   */
  readonly translateAddress?: ((address: string) => string) | undefined;
  /**
   * The keyspace of tables that a statement names without one, and of the table of `get` and `put`.
   */
  readonly keyspace: string;
  /** How many replicas a final view reads. Default: `QUORUM`. */
  readonly read?: Consistency | undefined;
  /** How many replicas must have a write before it is acknowledged. Default: `QUORUM`. */
  readonly write?: Consistency | undefined;
  /**
   * Which single replica a preliminary view reads: any, or one of the coordinator's data center.
   * Default: `ONE`.
   */
  readonly weak?: 'ONE' | 'LOCAL_ONE' | undefined;
  /**
   * Declares that all replicas are in one data center, so that `LOCAL_QUORUM` counts as a quorum of
   * all. The binding checks this against the replication of every keyspace that it uses. Default:
   * `false`.
   */
  readonly singleDataCenter?: boolean | undefined;
  /**
   * The application's own prepared statements, made by `defineStatements` or `implementStatements`.
   */
  readonly statements?: Statements | readonly Statements[] | undefined;
  /**
   * The table of `get`, `put` and `getMany`, see `getKeyValueTableCql`. Default:
   * `correctables_values`.
   */
  readonly table?: string | undefined;
  /**
   * Creates that table if missing. For development: concurrent creations conflict. Default:
   * `false`.
   */
  readonly createTable?: boolean | undefined;
  /** Converts the values of `put` to text and back. Default: JSON. */
  readonly codec?: ValueCodec | undefined;
  /**
   * Reads both views with one request, from a coordinator with the plugin: `preliminaryReplies()`
   * of `correctables/research/cassandra-icg`. Default: two requests, to any coordinator.
   */
  readonly preliminaryReplies?: PreliminaryReplies | undefined;
  /** How long to wait for a reply of the coordinator, in milliseconds. Default: 12 000. */
  readonly requestTimeoutMs?: number | undefined;
  /** The user that the binding connects as. */
  readonly credentials?: { readonly username: string; readonly password: string } | undefined;
  /**
   * Options of `tls.connect`: the binding connects by TLS. It rejects a node whose certificate is
   * not trusted (`ca`), or names neither its address nor a name in `contactPoints`. Default:
   * `clientOptions.sslOptions`.
   */
  readonly tls?: object | undefined;
  /**
   * Receives an alarm when the cluster refuses the connection, once until it is corrected. Default:
   * a warning of the process.
   */
  readonly onAlarm?: ((alarm: CassandraAlarm) => unknown) | undefined;
  /** The module `cassandra-driver`. Default: the installed one. */
  readonly driver?: CassandraDriver | undefined;
  /**
   * Further options for the driver's client, under its own names. Options of this binding take
   * precedence. It does not use `profiles` and speculative executions.
   */
  readonly clientOptions?: object | undefined;
}

/** Options that stay `undefined` by default. */
type OptionalField =
  | 'credentials'
  | 'tls'
  | 'driver'
  | 'onAlarm'
  | 'translateAddress'
  | 'preliminaryReplies';

type DefaultedField = Exclude<
  keyof CassandraOptions,
  OptionalField | 'contactPoints' | 'statements'
>;

export type ResolvedOptions = {
  readonly [K in DefaultedField]-?: Exclude<CassandraOptions[K], undefined>;
} & {
  readonly [K in OptionalField]: CassandraOptions[K] | undefined;
} & {
  readonly contactPoints: readonly ServerAddress[];
  readonly statements: readonly Statement[];
};

const DEFAULT_PORT = 9042;
const IDENTIFIER = /^[A-Za-z]\w{0,47}$/;

const CALL = "cassandra({ contactPoints: ['127.0.0.1:9042'], keyspace: 'shop' })";

const OPTIONS: OptionNamesOf<CassandraOptions> = {
  contactPoints: true,
  translateAddress: true,
  keyspace: true,
  read: true,
  write: true,
  weak: true,
  singleDataCenter: true,
  statements: true,
  table: true,
  createTable: true,
  codec: true,
  preliminaryReplies: true,
  requestTimeoutMs: true,
  credentials: true,
  tls: true,
  onAlarm: true,
  driver: true,
  clientOptions: true,
};

/** @throws CorrectableError `INVALID_ARGUMENT` that names the field */
export function resolveOptions(options: CassandraOptions): ResolvedOptions {
  checkOptionNames(options, { call: CALL }, OPTIONS);
  checkOtherOptions(options);
  const { statements = [] } = options;
  return {
    contactPoints: parseContactPoints(options.contactPoints),
    keyspace: checkIdentifier('keyspace', options.keyspace),
    read: checkOneOf('read', options.read ?? 'QUORUM', READ_CONSISTENCIES),
    write: checkOneOf('write', options.write ?? 'QUORUM', READ_CONSISTENCIES),
    weak: checkOneOf('weak', options.weak ?? 'ONE', ['ONE', 'LOCAL_ONE']),
    singleDataCenter: options.singleDataCenter ?? false,
    statements: getStatements(statements),
    table: checkIdentifier('table', options.table ?? 'correctables_values'),
    createTable: options.createTable ?? false,
    codec: options.codec ?? jsonCodec,
    preliminaryReplies: options.preliminaryReplies,
    requestTimeoutMs: checkPositive('requestTimeoutMs', options.requestTimeoutMs ?? 12_000),
    credentials: options.credentials,
    // Every connection of the binding uses these. Credentials must not be sent over another one.
    tls:
      options.tls ??
      (options.clientOptions as { readonly sslOptions?: object } | undefined)?.sslOptions ??
      undefined,
    onAlarm: options.onAlarm,
    driver: options.driver,
    translateAddress: options.translateAddress,
    clientOptions: options.clientOptions ?? {},
  };
}

function checkOtherOptions(options: CassandraOptions): void {
  const { codec, credentials, tls, driver, clientOptions, preliminaryReplies } = options;
  const isCodec = codec === undefined || hasMethods(codec, 'encode', 'decode');
  check(isCodec, 'codec', 'must have encode and decode, as jsonCodec has, or be left out');
  const isPassword =
    credentials === undefined ||
    (isNonEmptyString(credentials?.username) && isNonEmptyString(credentials.password));
  check(isPassword, 'credentials', "must be { username: 'ada', password: '…' }, or none");
  check(
    tls === undefined || isRecord(tls),
    'tls',
    'must be options for tls.connect, as {}, or none',
  );
  // The option may be the namespace of the module, or its default export.
  check(
    driver === undefined || typeof driver?.Client === 'function',
    'driver',
    'must be the module cassandra-driver',
  );
  check(
    clientOptions === undefined || isRecord(clientOptions),
    'clientOptions',
    'must be an object, or none',
  );
  check(
    preliminaryReplies === undefined || hasMethods(preliminaryReplies, 'open'),
    'preliminaryReplies',
    'must be preliminaryReplies() of correctables/research/cassandra-icg, or be left out',
  );
  checkOptionTypes(options, 'function', 'translateAddress', 'onAlarm');
  checkOptionTypes(options, 'boolean', 'singleDataCenter', 'createTable');
}

function parseContactPoints(value: readonly string[]): ServerAddress[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw createInvalidArgumentError(
      'contactPoints',
      'give at least one node as host:port, the closest first',
    );
  }
  return value.map((point: unknown, at) => {
    const address = typeof point === 'string' ? parseAddress(point, DEFAULT_PORT) : undefined;
    if (address !== undefined) return address;
    throw createInvalidArgumentError(
      `contactPoints[${at}]`,
      `give host, host:port or [::1]:port, not ${JSON.stringify(point)}`,
    );
  });
}

/**
 * Checks a name of a keyspace or table. It becomes part of statements, so it may only have letters,
 * digits and `_`, and CQL ignores their case.
 */
export function checkIdentifier(field: string, value: string): string {
  if (typeof value === 'string' && IDENTIFIER.test(value)) return value.toLowerCase();
  throw createInvalidArgumentError(
    field,
    'give a name of up to 48 letters, digits and _, beginning with a letter',
  );
}

function checkOneOf<const T extends string>(field: string, value: T, all: readonly T[]): T {
  if (all.includes(value)) return value;
  throw createInvalidArgumentError(
    field,
    `must be one of ${all.join(', ')}, not ${JSON.stringify(value)}`,
  );
}

function checkPositive(field: string, value: number): number {
  if (Number.isFinite(value) && value > 0) return value;
  throw new CorrectableError(
    'INVALID_ARGUMENT',
    `${field}: must be above 0, not ${String(value)}`,
    { field },
  );
}
