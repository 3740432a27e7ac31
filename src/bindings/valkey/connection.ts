/** The connections to one server: one for what blocks, and one for the rest. */
import { loadRedisDriver, type RedisClient } from '../shared/redis/redis-driver.ts';
import type { NoConnectionError } from '../shared/redis/redis-errors.ts';
import { RedisServer } from '../shared/redis/redis-server.ts';
import { POSITION } from './commands.ts';
import type { ServerAddress } from '../shared/server-address.ts';
import { isReplica, parseInfo, type ServerFacts } from './replication-position.ts';

export interface ValkeyServerOptions {
  /** `primary`, or the name of a replica. */
  readonly name: string;
  readonly address: ServerAddress;
  /** Options of `ioredis`, such as `password` and `tls`. */
  readonly redisOptions: object;
  /** How long `WAIT` may block its connection, in milliseconds. */
  readonly waitTimeoutMs: number;
}

const MAX_SILENCE_MS = 2_000;

export class ValkeyServer {
  readonly name: string;
  /** For commands that are answered at once. */
  readonly direct: RedisServer;
  /** For writes that wait for replicas: `WAIT` holds up all commands after it. */
  readonly blocking: RedisServer;
  /** Called when there is no connection, with the reason. */
  onRefused: (error: NoConnectionError) => void = () => {};
  #facts: ServerFacts = {};

  constructor(options: ValkeyServerOptions) {
    const { name, address, redisOptions, waitTimeoutMs } = options;
    this.name = name;
    const common = {
      address,
      redisOptions,
      loadDriver: () => loadRedisDriver('The Valkey binding'),
      examine: (client: RedisClient) => this.#examine(client),
      onRefused: (error: NoConnectionError) => this.onRefused(error),
    };
    this.direct = new RedisServer({ ...common, maxSilenceMs: MAX_SILENCE_MS });
    this.blocking = new RedisServer({
      ...common,
      maxSilenceMs: MAX_SILENCE_MS + waitTimeoutMs,
    });
  }

  /** What the server has said of itself when it was connected. */
  get facts(): ServerFacts {
    return this.#facts;
  }

  /** Gives all connections up: they lead to a wrong server. */
  renew(reason: Error): void {
    for (const server of [this.direct, this.blocking])
      if (server.ready !== undefined) server.giveUp(server.ready, reason);
  }

  close(): void {
    this.direct.close();
    this.blocking.close();
  }

  /** A name may lead to a server that was demoted. */
  async #examine(client: RedisClient): Promise<void> {
    if (this.name !== 'primary') return;
    const info = parseInfo(await client.call(...POSITION));
    if (isReplica(info)) throw new Error('the server is a replica, and no primary');
    // All sections, of which two are needed.
    const all = await client.call('INFO').then(parseInfo, () => undefined);
    this.#facts = {
      replicationId: info.get('master_replid'),
      isVolatile: all?.get('aof_enabled') === '0',
      runId: all?.get('run_id'),
    };
  }
}
