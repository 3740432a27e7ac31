/**
 * The connection to a cluster: made at the first need, checked against what the
 * options claim, made again if it failed.
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
 * Options for `tls.connect`; none where the options say which name to expect.
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
  /** Whether it may be sent again if its result is unknown. */
  readonly isIdempotent: boolean;
  readonly pageSize?: number | undefined;
  /**
   * Microseconds since the epoch: of two writes the later one stays. The
   * driver's clock unless given.
   */
  readonly timestamp?: number | undefined;
}

/**
 * Under way on one connection: above it the driver would go to a node farther
 * away.
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

  /**
   * `keyspaces`: those whose replication decides what the levels may be called.
   */
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
   * The same for an update: what it fails with tells of all attempts, since an
   * earlier one may have been made.
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
   * What is in flight fails; connections that are still being made are ended as
   * soon as the driver lets go of them.
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
      // The driver could not prepare it again, and gives no reason. Nothing was
      // executed: a fresh PREPARE shows the reason.
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
      // The schema is of use for routing by token only, and these requests are
      // not.
      isMetadataSyncEnabled: false,
      ...value,
      // One by the name of `default` would come before what is said here; and
      // nothing here is executed by another.
      profiles: undefined,
      contactPoints: contactPoints.map(formatAddress),
      // That of the nodes which are listed by names, and of those which are not
      // listed.
      protocolOptions: {
        port: contactPoints[0]?.port,
        ...value.protocolOptions,
      },
      keyspace,
      ...(credentials !== undefined && { credentials }),
      // Left to itself the driver takes any certificate, and looks for the
      // node's number in it, not for its name.
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
        // A second coordinator may refuse what the first one makes, and may
        // show less than what the first one has shown.
        speculativeExecution:
          new speculativeExecution.NoSpeculativeExecutionPolicy(),
      },
      pooling: {
        maxRequestsPerConnection: MAX_REQUESTS_PER_CONNECTION,
        ...value.pooling,
      },
      socketOptions: { ...value.socketOptions, readTimeout: requestTimeoutMs },
      // In an object, keys of a map that differ can have the same name.
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
 * The values as bytes of their types, which the driver knows only once it has
 * prepared the statement: hence getters.
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

/**
 * Makes the driver prepare a statement from the start the next time. @returns
 * whether the driver supports that
 */
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
 * `LOCAL_QUORUM` is a quorum of all replicas only where no other data centre
 * has any.
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

/**
 * Other strategies do not know of data centres: their replicas may be anywhere.
 */
function countDataCenters(
  replication: Readonly<Record<string, string>>,
): number {
  if (replication['class']?.endsWith('NetworkTopologyStrategy') !== true)
    return 0;
  return Object.entries(replication).filter(
    ([name, count]) => name !== 'class' && Number.parseInt(count, 10) > 0,
  ).length;
}
