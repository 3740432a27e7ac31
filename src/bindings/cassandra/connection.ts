/**
 * The connection to a cluster. It is opened at the first request, checked against the options, and
 * opened again when no node is left.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  loadDriver,
  type CassandraDriver,
  type DriverClient,
  type DriverQueryOptions,
  type DriverStatements,
} from './driver.ts';
import { isCorrectableError } from '../../correctable/errors.ts';
import { AccessAlarms } from './access-alarms.ts';
import { checkSingleDataCenter } from './check-replication.ts';
import { createClientOptions } from './client-options.ts';
import { connectFirst } from './connect-client.ts';
import { RetriesFailedError, createClosedError, isAccessRefused, isUnprepared } from './errors.ts';
import { Execution } from './execution.ts';
import { getKeyValueTableCql } from './key-value.ts';
import { NodeHealth } from './node-health.ts';
import { CONSISTENCY_CODES, type Consistency } from './consistency-levels.ts';
import type { ResolvedOptions } from './options.ts';
import {
  createCoordinatorPolicy,
  createRetryPolicyClass,
  type CoordinatorPolicy,
  type RetryPolicyClass,
} from './driver-policies.ts';
import { PreparedTexts } from './prepared-texts.ts';
import type { Page, ReadStatement } from './read-strategy.ts';
import { ValueConverter } from './value-converter.ts';

export interface StatementExecution extends Omit<ReadStatement, 'pageSize'> {
  readonly consistency: Consistency;
  /** Whether the statement may be resent if its result is unknown. */
  readonly isIdempotent: boolean;
  readonly pageSize?: number | undefined;
  /**
   * The write time in microseconds since the epoch. Of two writes to a value, Cassandra keeps the
   * one with the later time. Default: the driver's clock
   */
  readonly timestamp?: number | undefined;
}

interface ClusterConnection {
  readonly client: DriverClient;
  readonly driver: CassandraDriver;
  readonly values: ValueConverter;
  readonly retryPolicy: RetryPolicyClass;
  readonly coordinators: CoordinatorPolicy;
  readonly health: NodeHealth;
  /** The texts of each node, by its address. */
  readonly texts: Map<string | undefined, PreparedTexts>;
}

/**
 * How often a statement is executed if no node knows it: its table or a type changes again and
 * again, or the requests move from node to node.
 */
const MAX_PREPARATIONS = 4;
const MAX_SILENCE_MS = 1_500;
/** Operations must not make an attempt each while no node can be reached. */
const MIN_RECONNECT_INTERVAL_MS = 200;

export class Cluster {
  readonly #options: ResolvedOptions;
  readonly #keyspaces: readonly string[];
  readonly #alarms: AccessAlarms;
  #connecting: Promise<ClusterConnection> | undefined;
  #connection: ClusterConnection | undefined;
  #hasCreatedTable = false;
  #nextAttemptAtMs = 0;
  #isClosed = false;

  /** The replication of `keyspaces` determines the names of the levels. */
  constructor(options: ResolvedOptions, keyspaces: readonly string[]) {
    this.#options = options;
    this.#keyspaces = keyspaces;
    this.#alarms = new AccessAlarms(options.onAlarm);
  }

  /**
   * Resolves when requests can be sent. After a failure the next call tries again.
   *
   * If the driver has no node left, another client is opened. The driver would try again only after
   * a pause, would not report the cause, and would keep the addresses that the names had before.
   */
  connect(): Promise<ClusterConnection> {
    if (this.#isClosed) return Promise.reject(createClosedError());
    if (this.#connection?.coordinators.hasNode === false) this.#disconnect();
    this.#connecting ??= this.#openConnection().then(
      (connected) => {
        this.#alarms.recordAccess();
        return (this.#connection = connected);
      },
      (error: unknown) => {
        this.#connecting = undefined;
        if (isAccessRefused(error)) this.#alarms.reportRefusal(error);
        throw error;
      },
    );
    return this.#connecting;
  }

  get isConnected(): boolean {
    return this.#connection?.coordinators.hasNode === true && !this.#isClosed;
  }

  execute(execution: StatementExecution): Promise<Page> {
    return this.#executeConnected(execution, new Execution({ isWrite: false }));
  }

  /**
   * Executes an update. Its error covers all attempts, because an earlier one may have been
   * applied. `handleSend` is called before each attempt, and returns whether it may be sent.
   */
  async write(execution: StatementExecution, handleSend: () => boolean): Promise<Page> {
    const run = new Execution({ isWrite: true, handleSend });
    try {
      return await this.#executeConnected(execution, run);
    } catch (error) {
      throw run.earlierErrors.length > 0 && error instanceof Error
        ? new RetriesFailedError(run.earlierErrors, error)
        : error;
    }
  }

  /**
   * Ends all connections, so requests in flight fail. Connections that are still being opened are
   * closed once the driver returns them.
   */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#connection !== undefined) await shutDown(this.#connection);
    else void this.#connecting?.then(shutDown).catch(() => {});
  }

  async #getConnection(): Promise<ClusterConnection> {
    const connection = this.#connection;
    return connection !== undefined && this.isConnected ? connection : await this.connect();
  }

  #disconnect(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#connecting = undefined;
    if (connection !== undefined) void shutDown(connection).catch(() => {});
  }

  /**
   * Executes a statement. If the last node was lost meanwhile, what may be sent twice goes on over
   * another connection.
   */
  async #executeConnected(execution: StatementExecution, run: Execution): Promise<Page> {
    const connected = await this.#getConnection();
    try {
      return await this.#execute(connected, execution, run);
    } catch (error) {
      const isRepeated =
        execution.isIdempotent && !connected.coordinators.hasNode && !this.#isClosed;
      if (!isRepeated) throw error;
      run.recordRepeat(error);
      return this.#execute(await this.connect(), execution, run);
    }
  }

  async #execute(
    connected: ClusterConnection,
    execution: StatementExecution,
    run: Execution,
  ): Promise<Page> {
    for (let attempt = 1; ; attempt += 1) {
      run.begin(connected.health);
      // The statement may have to be prepared first, at this node.
      const [first] = connected.coordinators.listNodes(run.preferredAddress);
      const node = first?.address;
      if (node !== undefined) run.moveTo(node);
      const texts = getTexts(connected, node);
      const text = texts.getText(execution.cql);
      try {
        return await this.#executeOnce(connected, { ...execution, text }, run);
      } catch (error) {
        const isForgotten = isEncodingError(error)
          ? await isStatementForgotten(connected, { text, node })
          : isUnprepared(error);
        // The last node has not executed the statement. What an earlier node may have done is in
        // the errors of the run.
        if (!isForgotten || attempt === MAX_PREPARATIONS) throw error;
        // Prepare it by another text at its own node, because its types may have changed. Another
        // node gets a text of its own.
        if (run.lastAddress === node) texts.replace(execution.cql, text);
        run.stay();
      }
    }
  }

  async #executeOnce(
    connected: ClusterConnection,
    execution: StatementExecution & { readonly text: string },
    run: Execution,
  ): Promise<Page> {
    const { client, values, retryPolicy } = connected;
    const { text, params, consistency, isIdempotent } = execution;
    const { pageSize, pageState, timestamp } = execution;
    try {
      const result = await client.execute(
        text,
        toDriverParameters(client, values, { text, params }),
        {
          prepare: true,
          consistency: CONSISTENCY_CODES[consistency],
          isIdempotent,
          autoPage: false,
          ...(pageSize !== undefined && { fetchSize: pageSize }),
          ...(pageState !== undefined && { pageState }),
          ...(timestamp !== undefined && { timestamp }),
          retry: new retryPolicy(run) as never,
          ...preferNode(connected, run.preferredAddress),
        },
      );
      run.end();
      const rows = (result.rows ?? []).map((row) => values.toPlainRow(row, result.columns));
      return { rows, pageState: result.pageState ?? undefined };
    } catch (error) {
      run.end(error);
      throw error;
    }
  }

  async #openConnection(): Promise<ClusterConnection> {
    const pauseMs = this.#nextAttemptAtMs - performance.now();
    if (pauseMs > 0) await sleep(pauseMs);
    if (this.#isClosed) throw createClosedError();
    this.#nextAttemptAtMs = performance.now() + MIN_RECONNECT_INTERVAL_MS;
    const driver = await loadDriver(this.#options.driver);
    const connected = await connectFirst(this.#options.contactPoints, (contactPoint) =>
      this.#createConnection(driver, contactPoint),
    );
    const { client } = connected;
    try {
      if (this.#options.singleDataCenter)
        await checkSingleDataCenter(client, connected.values, this.#keyspaces);
      if (this.#options.createTable && !this.#hasCreatedTable)
        await client.execute(getKeyValueTableCql(this.#options));
    } catch (error) {
      await shutDown(connected).catch(() => {});
      throw error;
    }
    this.#hasCreatedTable = true;
    return connected;
  }

  #createConnection(
    driver: CassandraDriver,
    contactPoint: Parameters<typeof createClientOptions>[2],
  ): ClusterConnection {
    const { contactPoints, requestTimeoutMs } = this.#options;
    const maxSilenceMs = Math.min(MAX_SILENCE_MS, requestTimeoutMs / 2);
    const retryPolicy = createRetryPolicyClass(driver);
    const health = new NodeHealth({
      maxSilenceMs,
      isListed: (address) => coordinators.findHost(address) !== undefined,
      probe: (address) => {
        const host = coordinators.findHost(address);
        const connection = host?.getActiveConnection?.();
        if (connection === undefined || connection === null) return undefined;
        return {
          answer: client.execute('SELECT key FROM system.local', [], {
            host: host as never,
            readTimeout: maxSilenceMs,
          }),
          closeConnection: () => host?.removeFromPool?.(connection),
        };
      },
    });
    const coordinators = createCoordinatorPolicy(driver, contactPoints, {
      health,
    });
    const client = new driver.Client(
      createClientOptions(driver, this.#options, contactPoint, {
        loadBalancing: coordinators,
        retry: new retryPolicy(),
      }) as never,
    );
    hideStatements(client);
    // When the driver connects again, it replaces nodes and forgets to close the former ones.
    client.on?.('hostRemove', (host) => {
      void host.shutdown?.().catch(() => {});
    });
    return {
      client,
      driver,
      values: new ValueConverter(driver),
      retryPolicy,
      coordinators,
      health,
      texts: new Map(),
    };
  }
}

async function shutDown({ client, health }: ClusterConnection): Promise<void> {
  health.close();
  await client.shutdown();
}

/** Returns the texts that statements are prepared by at a node. */
function getTexts({ texts }: ClusterConnection, node: string | undefined): PreparedTexts {
  const existing = texts.get(node);
  if (existing !== undefined) return existing;
  const created = new PreparedTexts();
  texts.set(node, created);
  return created;
}

/** Returns options that let an execution, and the preparation of its text, turn to a node first. */
function preferNode(
  { driver, coordinators }: ClusterConnection,
  node: string | undefined,
): DriverQueryOptions {
  if (node === undefined) return {};
  const profile = new driver.ExecutionProfile('', {
    loadBalancing: coordinators.prefer(node),
  } as never);
  return { executionProfile: profile as never };
}

/**
 * Encodes the values by their types. The driver knows the types only once it has prepared the
 * statement, so these are getters.
 */
function toDriverParameters(
  client: DriverClient,
  values: ValueConverter,
  { text, params }: { readonly text: string; readonly params: readonly unknown[] },
): unknown[] {
  const statements = client.metadata as DriverStatements | undefined;
  if (statements?.getPreparedInfo === undefined)
    return params.map((param) => values.toEncodable(param));
  const written: unknown[] = [];
  for (const [at, param] of params.entries()) {
    const get = (): unknown => {
      const marker = statements.getPreparedInfo?.(client.keyspace, text)?.meta?.columns?.[at];
      return marker === undefined ? values.toEncodable(param) : values.toDriverValue(param, marker);
    };
    Object.defineProperty(written, at, {
      get,
      enumerable: true,
      configurable: true,
    });
  }
  return written;
}

/** Returns whether a value could not be encoded by the type of its marker. */
function isEncodingError(error: unknown): boolean {
  return isCorrectableError(error) && error.code === 'INVALID_ARGUMENT';
}

/**
 * Returns whether its node does not know a statement any more, so that its types may have changed.
 * Executes it without values: a node that knows the statement rejects that, and executes nothing.
 */
async function isStatementForgotten(
  connected: ClusterConnection,
  { text, node }: { readonly text: string; readonly node: string | undefined },
): Promise<boolean> {
  try {
    await connected.client.execute(text, [], {
      prepare: true,
      ...preferNode(connected, node),
    });
    return false;
  } catch (error) {
    return isUnprepared(error);
  }
}

/**
 * Keeps the driver from preparing a text again that a node does not know. It would take the
 * statement for known, while other requests with values of the former types are on their way. It
 * reports the statement as unknown instead.
 */
function hideStatements({ metadata }: DriverClient): void {
  if (metadata === undefined || !('getPreparedById' in metadata)) return;
  Object.defineProperty(metadata, 'getPreparedById', {
    value: () => undefined,
  });
}
