/** The connection to a cluster: made at the first need, checked against what the options claim, made again if it failed. */
import { CorrectableError } from '../../correctable/errors.ts';
import { CONSISTENCY_CODES, type Consistency } from './consistency.ts';
import { loadDriver, type CassandraDriver, type DriverClient } from './driver.ts';
import { closedError } from './failures.ts';
import { keyValueTable } from './key-value-table.ts';
import type { ResolvedOptions } from './options.ts';
import { addressTranslator, coordinatorPolicy, retryPolicy } from './policies.ts';
import type { Page } from './read-path.ts';
import { Values } from './values.ts';

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

  async execute(execution: Execution): Promise<Page> {
    const { client, values } = this.#connected ?? (await this.connected());
    const { cql, params, consistency, isIdempotent, pageSize, pageState, timestamp } = execution;
    const result = await client.execute(
      cql,
      params.map((param) => values.encodable(param)),
      {
        prepare: true,
        consistency: CONSISTENCY_CODES[consistency],
        isIdempotent,
        autoPage: false,
        ...(pageSize !== undefined && { fetchSize: pageSize }),
        ...(pageState !== undefined && { pageState }),
        ...(timestamp !== undefined && { timestamp }),
      },
    );
    return { rows: (result.rows ?? []).map((row) => values.plainRow(row)), pageState: result.pageState ?? undefined };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const connected = await this.#connecting?.catch(() => undefined);
    await connected?.client.shutdown();
  }

  async #connect(): Promise<Connected> {
    const driver = await loadDriver(this.#options.driver);
    const client = new driver.Client(this.#clientOptions(driver) as never);
    try {
      await client.connect();
      if (this.#options.singleDataCenter) await checkSingleDataCenter(client, this.#keyspaces);
      if (this.#options.createTable) await client.execute(keyValueTable(this.#options));
    } catch (error) {
      await client.shutdown().catch(() => {});
      throw error;
    }
    return { client, driver, values: new Values(driver) };
  }

  #clientOptions(driver: CassandraDriver): object {
    const { contactPoints, keyspace, credentials, tls, requestTimeoutMs, translateAddress, clientOptions } =
      this.#options;
    const given = clientOptions as { policies?: object; pooling?: object; socketOptions?: object };
    return {
      // The schema is of use for routing by token only, and these requests are not.
      isMetadataSyncEnabled: false,
      ...given,
      contactPoints: [...contactPoints],
      keyspace,
      ...(credentials !== undefined && { credentials }),
      // Left to itself the driver takes any certificate.
      ...(tls !== undefined && { sslOptions: { rejectUnauthorized: true, ...tls } }),
      policies: {
        ...given.policies,
        ...(translateAddress !== undefined && { addressResolution: addressTranslator(driver, translateAddress) }),
        loadBalancing: coordinatorPolicy(driver, contactPoints),
        retry: retryPolicy(driver),
      },
      pooling: { maxRequestsPerConnection: REQUESTS_MAX, ...given.pooling },
      socketOptions: { ...given.socketOptions, readTimeout: requestTimeoutMs },
    };
  }
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
