/**
 * The connection to a cluster. It is opened at the first request, checked
 * against the options, and reopened after a failure.
 */
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { CorrectableError } from '../../correctable/errors.ts';
import { formatAddress, type ServerAddress } from '../shared/server-address.ts';
import {
  loadDriver,
  type CassandraDriver,
  type DriverClient,
  type DriverStatements,
} from './driver.ts';
import {
  RetriesFailedError,
  createClosedError,
  isUnprepared,
} from './errors.ts';
import { getKeyValueTableCql } from './key-value.ts';
import { CONSISTENCY_CODES, type Consistency } from './consistency-levels.ts';
import type { ResolvedOptions } from './options.ts';
import {
  createAddressTranslator,
  createCoordinatorPolicy,
  createRetryPolicyClass,
  type RetryPolicyClass,
} from './driver-policies.ts';
import type { Page, ReadStatement } from './read-strategy.ts';
import { ValueConverter } from './value-converter.ts';

/**
 * Returns options for `tls.connect` that check the node's name. Returns no
 * options if those of the application do so already.
 */
function getServerIdentity(
  contactPoints: readonly ServerAddress[],
  tls: { readonly servername?: unknown },
): object {
  if (tls.servername !== undefined) return {};
  return {
    checkServerIdentity(
      address: string,
      certificate: PeerCertificate,
    ): Error | undefined {
      const names = [address, ...contactPoints.map(({ host }) => host)];
      const failures = names.map((name) =>
        checkServerIdentity(name, certificate),
      );
      return failures.includes(undefined) ? undefined : failures[0];
    },
  };
}

export interface StatementExecution extends Omit<ReadStatement, 'pageSize'> {
  readonly consistency: Consistency;
  /** Whether the statement may be resent if its result is unknown. */
  readonly isIdempotent: boolean;
  readonly pageSize?: number | undefined;
  /**
   * The write time in microseconds since the epoch. Of two writes to a value,
   * Cassandra keeps the one with the later time. Default: the driver's clock
   */
  readonly timestamp?: number | undefined;
}

/**
 * Maximum number of requests in flight on one connection. Above it the driver
 * would use a more distant node.
 */
const MAX_REQUESTS_PER_CONNECTION = 16_384;

interface ClusterConnection {
  readonly client: DriverClient;
  readonly driver: CassandraDriver;
  readonly values: ValueConverter;
  readonly retryPolicy: RetryPolicyClass;
}

export class Cluster {
  readonly #options: ResolvedOptions;
  readonly #keyspaces: readonly string[];
  #connecting: Promise<ClusterConnection> | undefined;
  #connection: ClusterConnection | undefined;
  #isClosed = false;

  /** The replication of `keyspaces` determines the names of the levels. */
  constructor(options: ResolvedOptions, keyspaces: readonly string[]) {
    this.#options = options;
    this.#keyspaces = keyspaces;
  }

  /**
   * Resolves when requests can be sent. After a failure the next call tries
   * again.
   */
  connect(): Promise<ClusterConnection> {
    if (this.#isClosed) return Promise.reject(createClosedError());
    this.#connecting ??= this.#openConnection().then(
      (connected) => (this.#connection = connected),
      (error: unknown) => {
        this.#connecting = undefined;
        throw error;
      },
    );
    return this.#connecting;
  }

  get isConnected(): boolean {
    return this.#connection !== undefined && !this.#isClosed;
  }

  async execute(execution: StatementExecution): Promise<Page> {
    return this.#execute(this.#connection ?? (await this.connect()), execution);
  }

  /**
   * Executes an update. Its error covers all attempts, because an earlier one
   * may have been applied.
   */
  async write(execution: StatementExecution): Promise<Page> {
    const connected = this.#connection ?? (await this.connect());
    const earlier: Error[] = [];
    const retry = new connected.retryPolicy((error) => earlier.push(error));
    try {
      return await this.#execute(connected, execution, retry);
    } catch (error) {
      throw earlier.length > 0 && error instanceof Error
        ? new RetriesFailedError(earlier, error)
        : error;
    }
  }

  /**
   * Ends all connections, so requests in flight fail. Connections that are
   * still being opened are closed once the driver returns them.
   */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#connection !== undefined)
      await this.#connection.client.shutdown();
    else
      void this.#connecting
        ?.then(({ client }) => client.shutdown())
        .catch(() => {});
  }

  async #execute(
    connected: ClusterConnection,
    execution: StatementExecution,
    retry?: object,
  ): Promise<Page> {
    try {
      return await this.#executeOnce(connected, execution, retry);
    } catch (error) {
      // The driver could not prepare the statement again and reports no reason.
      // Nothing was executed, and a fresh PREPARE shows the reason.
      if (
        !isUnprepared(error) ||
        !forgetStatement(connected.client, execution.cql)
      )
        throw error;
      return this.#executeOnce(connected, execution, retry);
    }
  }

  async #executeOnce(
    { client, values }: ClusterConnection,
    execution: StatementExecution,
    retry?: object,
  ): Promise<Page> {
    const {
      cql,
      params,
      consistency,
      isIdempotent,
      pageSize,
      pageState,
      timestamp,
    } = execution;
    const result = await client.execute(
      cql,
      toDriverParameters(client, values, { cql, params }),
      {
        prepare: true,
        consistency: CONSISTENCY_CODES[consistency],
        isIdempotent,
        autoPage: false,
        ...(pageSize !== undefined && { fetchSize: pageSize }),
        ...(pageState !== undefined && { pageState }),
        ...(timestamp !== undefined && { timestamp }),
        ...(retry !== undefined && { retry: retry as never }),
      },
    );
    const rows = (result.rows ?? []).map((row) =>
      values.toPlainRow(row, result.columns),
    );
    return { rows, pageState: result.pageState ?? undefined };
  }

  async #openConnection(): Promise<ClusterConnection> {
    const driver = await loadDriver(this.#options.driver);
    const retryPolicy = createRetryPolicyClass(driver);
    const client = new driver.Client(
      this.#clientOptions(driver, new retryPolicy()) as never,
    );
    try {
      await client.connect();
      if (this.#options.singleDataCenter)
        await checkSingleDataCenter(client, this.#keyspaces);
      if (this.#options.createTable)
        await client.execute(getKeyValueTableCql(this.#options));
    } catch (error) {
      await client.shutdown().catch(() => {});
      throw error;
    }
    return { client, driver, values: new ValueConverter(driver), retryPolicy };
  }

  #clientOptions(driver: CassandraDriver, retry: object): object {
    const {
      contactPoints,
      keyspace,
      credentials,
      tls,
      requestTimeoutMs,
      translateAddress,
      clientOptions,
    } = this.#options;
    const value = clientOptions as DriverOptions;
    const { speculativeExecution } = driver.policies;
    const hasTranslator =
      translateAddress === undefined &&
      value.policies?.addressResolution !== undefined;
    return {
      // Only token-aware routing needs the schema, and these requests do not
      // use it.
      isMetadataSyncEnabled: false,
      ...value,
      // A profile named `default` would take precedence over these options. No
      // other profile is used here.
      profiles: undefined,
      contactPoints: contactPoints.map(formatAddress),
      // The port of nodes that are listed by name, and of nodes that are not
      // listed.
      protocolOptions: {
        port: contactPoints[0]?.port,
        ...value.protocolOptions,
      },
      keyspace,
      ...(credentials !== undefined && { credentials }),
      // By default the driver accepts any certificate, and compares it with the
      // node's address instead of its name.
      ...(tls !== undefined && {
        sslOptions: {
          rejectUnauthorized: true,
          ...getServerIdentity(contactPoints, tls),
          ...tls,
        },
      }),
      policies: {
        ...value.policies,
        ...(!hasTranslator && {
          addressResolution: createAddressTranslator(
            driver,
            contactPoints,
            translateAddress,
          ),
        }),
        loadBalancing: createCoordinatorPolicy(driver, contactPoints),
        retry,
        // Disable speculative execution: a second coordinator may reject what
        // the first one executes, or return older data.
        speculativeExecution:
          new speculativeExecution.NoSpeculativeExecutionPolicy(),
      },
      pooling: {
        maxRequestsPerConnection: MAX_REQUESTS_PER_CONNECTION,
        ...value.pooling,
      },
      socketOptions: { ...value.socketOptions, readTimeout: requestTimeoutMs },
      // Decode maps to `Map`: as properties of an object, different keys could
      // get the same name.
      encoding: { ...value.encoding, map: Map },
    };
  }
}

interface DriverOptions {
  readonly policies?: { readonly addressResolution?: object };
  readonly protocolOptions?: object;
  readonly pooling?: object;
  readonly socketOptions?: object;
  readonly encoding?: object;
}

/**
 * Encodes the values by their types. The driver knows the types only once it
 * has prepared the statement, so these are getters.
 */
function toDriverParameters(
  client: DriverClient,
  values: ValueConverter,
  { cql, params }: Pick<StatementExecution, 'cql' | 'params'>,
): unknown[] {
  const statements = client.metadata as DriverStatements | undefined;
  if (statements?.getPreparedInfo === undefined)
    return params.map((param) => values.toEncodable(param));
  const written: unknown[] = [];
  for (const [at, param] of params.entries()) {
    const get = (): unknown => {
      const marker = statements.getPreparedInfo?.(client.keyspace, cql)?.meta
        ?.columns?.[at];
      return marker === undefined
        ? values.toEncodable(param)
        : values.toDriverValue(param, marker);
    };
    Object.defineProperty(written, at, {
      get,
      enumerable: true,
      configurable: true,
    });
  }
  return written;
}

/** Makes the driver prepare a statement again at its next execution. */
function forgetStatement(
  { metadata, keyspace }: DriverClient,
  cql: string,
): boolean {
  const statement = (
    metadata as DriverStatements | undefined
  )?.getPreparedInfo?.(keyspace, cql);
  if (statement !== undefined) statement.queryId = undefined;
  return statement !== undefined;
}

/**
 * `LOCAL_QUORUM` is a quorum of all replicas only if no other data center has
 * replicas.
 */
async function checkSingleDataCenter(
  client: DriverClient,
  keyspaces: readonly string[],
): Promise<void> {
  for (const keyspace of keyspaces) {
    const { rows } = await client.execute(
      'SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = ?',
      [keyspace],
      { prepare: true },
    );
    const { replication } = (rows?.[0] ?? {}) as {
      replication?: Readonly<Record<string, string>>;
    };
    if (replication !== undefined && countDataCenters(replication) === 1)
      continue;
    const message =
      `singleDataCenter: keyspace ${keyspace} is replicated ` +
      `${replication === undefined ? 'nowhere: there is no such keyspace' : `as ${JSON.stringify(replication)}`}; ` +
      'leave the option out, or name a keyspace whose replicas are in one data centre by NetworkTopologyStrategy';
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'singleDataCenter',
    });
  }
}

/** Other strategies ignore data centers, so their replicas may be anywhere. */
function countDataCenters(
  replication: Readonly<Record<string, string>>,
): number {
  if (replication['class']?.endsWith('NetworkTopologyStrategy') !== true)
    return 0;
  return Object.entries(replication).filter(
    ([name, count]) => name !== 'class' && Number.parseInt(count, 10) > 0,
  ).length;
}
