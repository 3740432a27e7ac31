/** The connection to a cluster: made at the first need, checked against what the options claim, made again if it failed. */
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { CorrectableError } from '../../correctable/errors.ts';
import { formatAddress, type ServerAddress } from '../../engine-client/address.ts';
import { loadDriver, type CassandraDriver, type DriverClient, type DriverStatements } from './driver.ts';
import { RepeatedFailure, closedError, isUnprepared } from './failures.ts';
import { keyValueTable } from './key-value-table.ts';
import { CONSISTENCY_CODES, type Consistency } from './levels.ts';
import type { ResolvedOptions } from './options.ts';
import { addressTranslator, coordinatorPolicy, retryPolicies, type RetryPolicyClass } from './policies.ts';
import type { Page } from './read-path.ts';
import { Values } from './values.ts';

/** Options for `tls.connect`; none where the options say which name to expect. */
function serverIdentity(contactPoints: readonly ServerAddress[], tls: { readonly servername?: unknown }): object {
  if (tls.servername !== undefined) return {};
  return {
    checkServerIdentity(address: string, certificate: PeerCertificate): Error | undefined {
      const names = [address, ...contactPoints.map(({ host }) => host)];
      const failures = names.map((name) => checkServerIdentity(name, certificate));
      return failures.includes(undefined) ? undefined : failures[0];
    },
  };
}

/** One execution of a prepared statement. */
export interface Execution {
  readonly cql: string;
  readonly params: readonly unknown[];
  readonly consistency: Consistency;
  /** Whether it may be sent again where nobody knows what became of it. */
  readonly isIdempotent: boolean;
  readonly pageSize?: number | undefined;
  readonly pageState?: string | undefined;
  /** Microseconds since the epoch: of two writes the later one stays. The driver's clock unless given. */
  readonly timestamp?: number | undefined;
}

/** Under way on one connection: above it the driver would go to a node farther away. */
const REQUESTS_MAX = 16_384;

interface Connected {
  readonly client: DriverClient;
  readonly driver: CassandraDriver;
  readonly values: Values;
  readonly retries: RetryPolicyClass;
}

export class Cluster {
  readonly #options: ResolvedOptions;
  readonly #keyspaces: readonly string[];
  #connecting: Promise<Connected> | undefined;
  #connected: Connected | undefined;
  #isClosed = false;

  /** `keyspaces`: those whose replication decides what the levels may be called. */
  constructor(options: ResolvedOptions, keyspaces: readonly string[]) {
    this.#options = options;
    this.#keyspaces = keyspaces;
  }

  /** Resolves when requests can be sent; what fails is tried anew at the next call. */
  connected(): Promise<Connected> {
    if (this.#isClosed) return Promise.reject(closedError());
    this.#connecting ??= this.#connect().then(
      (connected) => (this.#connected = connected),
      (error: unknown) => {
        this.#connecting = undefined;
        throw error;
      },
    );
    return this.#connecting;
  }

  /** Whether requests go out at once. */
  get isConnected(): boolean {
    return this.#connected !== undefined && !this.#isClosed;
  }

  async execute(execution: Execution): Promise<Page> {
    return this.#execute(this.#connected ?? (await this.connected()), execution);
  }

  /** The same for an update: what it fails with tells of all attempts, since an earlier one may have been made. */
  async update(execution: Execution): Promise<Page> {
    const connected = this.#connected ?? (await this.connected());
    const earlier: Error[] = [];
    const retry = new connected.retries((error) => earlier.push(error));
    try {
      return await this.#execute(connected, execution, retry);
    } catch (error) {
      throw earlier.length > 0 && error instanceof Error ? new RepeatedFailure(earlier, error) : error;
    }
  }

  /** What is under way fails; connections that are still being made are ended as soon as the driver lets go of them. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#connected !== undefined) await this.#connected.client.shutdown();
    else void this.#connecting?.then(({ client }) => client.shutdown()).catch(() => {});
  }

  async #execute(connected: Connected, execution: Execution, retry?: object): Promise<Page> {
    try {
      return await this.#executeOnce(connected, execution, retry);
    } catch (error) {
      // The driver has prepared the statement again, in vain, and does not say why. To prepare it anew does, say because
      // the table is gone; and nothing has been executed.
      if (!isUnprepared(error) || !forgetStatement(connected.client, execution.cql)) throw error;
      return this.#executeOnce(connected, execution, retry);
    }
  }

  async #executeOnce({ client, values }: Connected, execution: Execution, retry?: object): Promise<Page> {
    const { cql, params, consistency, isIdempotent, pageSize, pageState, timestamp } = execution;
    const result = await client.execute(cql, parametersFor(client, values, { cql, params }), {
      prepare: true,
      consistency: CONSISTENCY_CODES[consistency],
      isIdempotent,
      autoPage: false,
      ...(pageSize !== undefined && { fetchSize: pageSize }),
      ...(pageState !== undefined && { pageState }),
      ...(timestamp !== undefined && { timestamp }),
      ...(retry !== undefined && { retry: retry as never }),
    });
    const rows = (result.rows ?? []).map((row) => values.plainRow(row, result.columns));
    return { rows, pageState: result.pageState ?? undefined };
  }

  async #connect(): Promise<Connected> {
    const driver = await loadDriver(this.#options.driver);
    const retries = retryPolicies(driver);
    const client = new driver.Client(this.#clientOptions(driver, new retries()) as never);
    try {
      await client.connect();
      if (this.#options.singleDataCenter) await checkSingleDataCenter(client, this.#keyspaces);
      if (this.#options.createTable) await client.execute(keyValueTable(this.#options));
    } catch (error) {
      await client.shutdown().catch(() => {});
      throw error;
    }
    return { client, driver, values: new Values(driver), retries };
  }

  #clientOptions(driver: CassandraDriver, retry: object): object {
    const { contactPoints, keyspace, credentials, tls, requestTimeoutMs, translateAddress, clientOptions } =
      this.#options;
    const given = clientOptions as GivenOptions;
    const { speculativeExecution } = driver.policies;
    const hasTranslator = translateAddress === undefined && given.policies?.addressResolution !== undefined;
    return {
      // The schema is of use for routing by token only, and these requests are not.
      isMetadataSyncEnabled: false,
      ...given,
      // One by the name of `default` would come before what is said here; and nothing here is executed by another.
      profiles: undefined,
      contactPoints: contactPoints.map(formatAddress),
      // That of the nodes which are listed by names, and of those which are not listed.
      protocolOptions: { port: contactPoints[0]?.port, ...given.protocolOptions },
      keyspace,
      ...(credentials !== undefined && { credentials }),
      // Left to itself the driver takes any certificate, and looks for the node's number in it, not for its name.
      ...(tls !== undefined && {
        sslOptions: { rejectUnauthorized: true, ...serverIdentity(contactPoints, tls), ...tls },
      }),
      policies: {
        ...given.policies,
        ...(!hasTranslator && { addressResolution: addressTranslator(driver, contactPoints, translateAddress) }),
        loadBalancing: coordinatorPolicy(driver, contactPoints),
        retry,
        // A second coordinator may refuse what the first one makes, and may show less than what the first one has shown.
        speculativeExecution: new speculativeExecution.NoSpeculativeExecutionPolicy(),
      },
      pooling: { maxRequestsPerConnection: REQUESTS_MAX, ...given.pooling },
      socketOptions: { ...given.socketOptions, readTimeout: requestTimeoutMs },
      // In an object, keys of a map that differ can have the same name.
      encoding: { ...given.encoding, map: Map },
    };
  }
}

/** What is said here beside something of the application's. */
interface GivenOptions {
  readonly policies?: { readonly addressResolution?: object };
  readonly protocolOptions?: object;
  readonly pooling?: object;
  readonly socketOptions?: object;
  readonly encoding?: object;
}

/**
 * The values for the markers as the bytes of their types. These the driver knows once it has prepared the statement: it
 * reads the values after that, and again where it has had to prepare it anew.
 */
function parametersFor(
  client: DriverClient,
  values: Values,
  { cql, params }: Pick<Execution, 'cql' | 'params'>,
): unknown[] {
  const statements = client.metadata as DriverStatements | undefined;
  if (statements?.getPreparedInfo === undefined) return params.map((param) => values.encodable(param));
  const written: unknown[] = [];
  for (const [at, param] of params.entries()) {
    const get = (): unknown => {
      const marker = statements.getPreparedInfo?.(client.keyspace, cql)?.meta?.columns?.[at];
      return marker === undefined ? values.encodable(param) : values.written(param, marker);
    };
    Object.defineProperty(written, at, { get, enumerable: true, configurable: true });
  }
  return written;
}

/** Has the driver prepare a statement anew the next time. @returns whether it can be told to */
function forgetStatement({ metadata, keyspace }: DriverClient, cql: string): boolean {
  const statement = (metadata as DriverStatements | undefined)?.getPreparedInfo?.(keyspace, cql);
  if (statement !== undefined) statement.queryId = undefined;
  return statement !== undefined;
}

/** `LOCAL_QUORUM` is a quorum of all replicas only where no other data centre has any. */
async function checkSingleDataCenter(client: DriverClient, keyspaces: readonly string[]): Promise<void> {
  for (const keyspace of keyspaces) {
    const { rows } = await client.execute(
      'SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = ?',
      [keyspace],
      { prepare: true },
    );
    const { replication } = (rows?.[0] ?? {}) as { replication?: Readonly<Record<string, string>> };
    if (replication !== undefined && dataCentersOf(replication) === 1) continue;
    const message =
      `singleDataCenter: keyspace ${keyspace} is replicated ` +
      `${replication === undefined ? 'nowhere: there is no such keyspace' : `as ${JSON.stringify(replication)}`}; ` +
      'leave the option out, or name a keyspace whose replicas are in one data centre by NetworkTopologyStrategy';
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'singleDataCenter' });
  }
}

/** Other strategies do not know of data centres: their replicas may be anywhere. */
function dataCentersOf(replication: Readonly<Record<string, string>>): number {
  if (replication['class']?.endsWith('NetworkTopologyStrategy') !== true) return 0;
  return Object.entries(replication).filter(([name, count]) => name !== 'class' && Number.parseInt(count, 10) > 0)
    .length;
}
