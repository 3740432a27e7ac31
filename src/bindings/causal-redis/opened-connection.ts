/**
 * A connection that the binding opens. It finds out at the first call whether the nodes are a Redis
 * Cluster, because another site may be unreachable at the start.
 */
import { CorrectableError } from '../../correctable/errors.ts';
import type { ServerAddress } from '../shared/server-address.ts';
import type { RedisArgument, RedisConnection, ScriptConnection } from './redis-connection.ts';

/** The part of the module `ioredis` that is used. */
export interface RedisDriver {
  readonly Redis: new (options: object) => ScriptConnection;
  readonly Cluster: new (nodes: readonly object[], options: object) => ScriptConnection;
}

/**
 * The type is `string`, not a literal, so that compilers and bundlers do not look for a package
 * that may be absent.
 */
const PACKAGE: string = 'ioredis';

/** @throws CorrectableError `UNSUPPORTED` naming the package */
export async function loadDriver(
  load: (name: string) => Promise<unknown> = (name) => import(name),
): Promise<RedisDriver> {
  try {
    return (await load(PACKAGE)) as RedisDriver;
  } catch (cause) {
    const message = `causalRedis needs the package ${PACKAGE}: npm install ${PACKAGE}.`;
    throw new CorrectableError('UNSUPPORTED', message, {
      cause,
      field: 'sites',
    });
  }
}

export interface ConnectionTarget {
  readonly addresses: readonly ServerAddress[];
  readonly redisOptions: object;
}

const CONNECT_TIMEOUT_MS = 5_000;

export class OpenedConnection implements ScriptConnection {
  readonly #driver: RedisDriver;
  readonly #target: ConnectionTarget;
  #opening: Promise<ScriptConnection> | undefined;
  #connection: ScriptConnection | undefined;
  #isClosed = false;

  constructor(driver: RedisDriver, target: ConnectionTarget) {
    this.#driver = driver;
    this.#target = target;
  }

  async call(command: string, ...args: RedisArgument[]): Promise<unknown> {
    const connection = this.#connection ?? (await this.#open());
    return connection.call(command, ...args);
  }

  async callBuffer(command: string, ...args: RedisArgument[]): Promise<unknown> {
    const connection = this.#connection ?? (await this.#open());
    return connection.callBuffer(command, ...args);
  }

  async evalBuffer(script: string, keyCount: number, ...args: RedisArgument[]): Promise<unknown> {
    const connection = this.#connection ?? (await this.#open());
    return connection.evalBuffer(script, keyCount, ...args);
  }

  async evalshaBuffer(sha: string, keyCount: number, ...args: RedisArgument[]): Promise<unknown> {
    const connection = this.#connection ?? (await this.#open());
    return connection.evalshaBuffer(sha, keyCount, ...args);
  }

  on(): void {}

  nodes(role: 'master'): RedisConnection[] {
    const connection = this.#connection;
    return connection?.nodes?.(role) ?? [connection ?? this];
  }

  disconnect(): void {
    this.#isClosed = true;
    this.#connection?.disconnect();
  }

  #open(): Promise<ScriptConnection> {
    this.#opening ??= this.#connect().then(
      (connection) => {
        this.#connection = connection;
        if (this.#isClosed) connection.disconnect();
        return connection;
      },
      (error: unknown) => {
        this.#opening = undefined;
        throw error;
      },
    );
    return this.#opening;
  }

  async #connect(): Promise<ScriptConnection> {
    const { addresses, redisOptions } = this.#target;
    const address = await this.#findServer();
    const connection = address.isCluster
      ? new this.#driver.Cluster(addresses, { redisOptions })
      : new this.#driver.Redis({ ...redisOptions, ...address });
    // Ignore the event: each call reports its own failure.
    connection.on('error', () => {});
    return connection;
  }

  /** Returns the first node that answers, and whether it belongs to a Cluster. */
  async #findServer(): Promise<ServerAddress & { readonly isCluster: boolean }> {
    const errors: unknown[] = [];
    for (const address of this.#target.addresses) {
      try {
        return { ...address, isCluster: await this.#isCluster(address) };
      } catch (error) {
        errors.push(error);
      }
    }
    throw errors.at(-1);
  }

  async #isCluster(address: ServerAddress): Promise<boolean> {
    let problem: unknown;
    const connection = new this.#driver.Redis({
      ...this.#target.redisOptions,
      ...address,
      connectTimeout: CONNECT_TIMEOUT_MS,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    });
    connection.on('error', (error) => (problem = error));
    try {
      const info = String(await connection.call('info', 'cluster'));
      return info.includes('cluster_enabled:1');
    } catch (error) {
      // The error of the socket is more specific than "connection is closed".
      throw problem ?? error;
    } finally {
      connection.disconnect();
    }
  }
}
