/**
 * The connections that the binding opens to the Redis of a site: one to each master. It finds out
 * at the first call whether the nodes are a Redis Cluster, because another site may be unreachable
 * at the start.
 *
 * The `Cluster` of `ioredis` waits for a master that is silent for ever, and sends a command again
 * after it has lost a connection. So routing is done here: a server that is silent, or that is no
 * master any more, is abandoned, and the others are asked who is.
 */
import {
  describeError,
  isServerReply,
  isWrongServer,
  NoConnectionError,
} from '../shared/redis/redis-errors.ts';
import type { RedisClient, RedisDriver } from '../shared/redis/redis-driver.ts';
import { RedisServer } from '../shared/redis/redis-server.ts';
import { formatAddress, type ServerAddress } from '../shared/server-address.ts';
import type { RedisArgument, RedisConnection, ScriptConnection } from './driver.ts';
import { learnTopology, toHost, type Topology } from './topology.ts';

export interface ConnectionTarget {
  readonly addresses: readonly ServerAddress[];
  readonly redisOptions: object;
}

type Send = (client: RedisClient) => Promise<unknown>;

/** How often a call follows a slot that has moved. */
const MAX_REDIRECTIONS = 5;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;

export class OpenedConnection implements ScriptConnection {
  readonly sendsOnce = true;
  readonly #loadDriver: () => Promise<RedisDriver>;
  readonly #target: ConnectionTarget;
  readonly #servers = new Map<string, RedisServer>();
  #topology: Topology | undefined;
  #learning: Promise<Topology> | undefined;
  #learnCount = 0;
  /** The servers are not asked again before this time. */
  #learnsAgainAtMs = -Infinity;
  #pauseMs = FIRST_PAUSE_MS;
  #failure: unknown;
  #isClosed = false;

  constructor(loadDriver: () => Promise<RedisDriver>, target: ConnectionTarget) {
    this.#loadDriver = loadDriver;
    this.#target = target;
  }

  call(command: string, ...args: RedisArgument[]): Promise<unknown> {
    return this.#send(args[0], (client) => client.call(command, ...args));
  }

  callBuffer(command: string, ...args: RedisArgument[]): Promise<unknown> {
    return this.#send(args[0], (client) => client.callBuffer(command, ...args));
  }

  evalBuffer(script: string, keyCount: number, ...args: RedisArgument[]): Promise<unknown> {
    return this.#send(args[0], (client) => client.callBuffer('EVAL', script, keyCount, ...args));
  }

  evalshaBuffer(sha: string, keyCount: number, ...args: RedisArgument[]): Promise<unknown> {
    return this.#send(args[0], (client) => client.callBuffer('EVALSHA', sha, keyCount, ...args));
  }

  on(): void {}

  nodes(): RedisConnection[] {
    return (this.#topology?.masters ?? []).map((address) => {
      const send = (run: Send): Promise<unknown> => this.#sendTo(address, run);
      return {
        options: address,
        call: (command: string, ...args: RedisArgument[]) =>
          send((client) => client.call(command, ...args)),
        callBuffer: (command: string, ...args: RedisArgument[]) =>
          send((client) => client.callBuffer(command, ...args)),
        disconnect: () => {},
      };
    });
  }

  disconnect(): void {
    this.#isClosed = true;
    for (const server of this.#servers.values()) server.close();
  }

  /** Sends a command to the master of a key. Without a key, any master will do. */
  async #send(key: RedisArgument = '', run: Send): Promise<unknown> {
    const topology = this.#topology ?? (await this.#learn());
    let address = topology.findMaster(String(key));
    let isAsking = false;
    for (let redirections = 0; ; redirections += 1) {
      if (address === undefined) {
        this.#doubt();
        throw new NoConnectionError('the master of a key', 'its slot is served by no server');
      }
      try {
        return await this.#sendTo(address, isAsking ? (client) => askThen(client, run) : run);
      } catch (error) {
        const redirection = this.#findRedirection(error, address);
        if (redirection === undefined || redirections === MAX_REDIRECTIONS) throw error;
        ({ address, isAsking } = redirection);
      }
    }
  }

  async #sendTo(address: ServerAddress, run: Send): Promise<unknown> {
    const server = this.#getServer(address);
    try {
      const client = server.ready ?? (await server.connect());
      try {
        return await server.watch(client, run(client));
      } catch (error) {
        if (isServerReply(error) && error.message.startsWith('READONLY')) {
          server.giveUp(client, error);
          this.#forgetOnlyMaster(address, error);
        }
        throw error;
      }
    } catch (error) {
      if (!isServerReply(error) || isWrongServer(error)) this.#doubt();
      throw error;
    }
  }

  /**
   * Forgets the topology if its only master has refused a write. Of the masters of a cluster, the
   * others still are. The servers are asked at once, even if that was done just before.
   */
  #forgetOnlyMaster(address: ServerAddress, error: Error): void {
    const masters = this.#topology?.masters ?? [];
    if (
      masters.length !== 1 ||
      formatAddress(masters[0] as ServerAddress) !== formatAddress(address)
    )
      return;
    this.#failure = toNoConnectionError(error);
    this.#learnsAgainAtMs = -Infinity;
    this.#topology = undefined;
  }

  /** Returns where a slot is, if the server has replied that. */
  #findRedirection(
    error: unknown,
    from: ServerAddress,
  ): { readonly address: ServerAddress; readonly isAsking: boolean } | undefined {
    if (!isServerReply(error)) return undefined;
    const [, kind, slot, host, port] = /^(MOVED|ASK) (\d+) (.*):(\d+)$/.exec(error.message) ?? [];
    if (kind === undefined) return undefined;
    const address = { host: toHost(host, this.#getServer(from)), port: Number(port) };
    if (kind === 'MOVED') this.#topology?.move(Number(slot), address);
    return { address, isAsking: kind === 'ASK' };
  }

  #getServer(address: ServerAddress): RedisServer {
    const name = formatAddress(address);
    const known = this.#servers.get(name);
    if (known !== undefined) return known;
    const { redisOptions } = this.#target;
    const server = new RedisServer({ address, redisOptions, loadDriver: this.#loadDriver });
    if (this.#isClosed) server.close();
    this.#servers.set(name, server);
    return server;
  }

  /** The servers are asked again who the masters are. Calls go on meanwhile. */
  #doubt(): void {
    if (performance.now() >= this.#learnsAgainAtMs) this.#learn().catch(() => {});
  }

  #learn(): Promise<Topology> {
    if (this.#learning !== undefined) return this.#learning;
    // Without any master, calls fail for a pause with the reason.
    if (performance.now() < this.#learnsAgainAtMs && this.#topology === undefined)
      return Promise.reject(this.#failure as Error);
    const learning = learnTopology(this.#listServers())
      .then(
        (topology) => {
          this.#pauseMs = FIRST_PAUSE_MS;
          this.#failure = undefined;
          this.#topology = topology;
          this.#closeUnused(topology);
          return topology;
        },
        (error: unknown) => {
          this.#failure = toNoConnectionError(error);
          this.#pauseMs = Math.min(MAX_PAUSE_MS, 2 * this.#pauseMs);
          throw this.#failure;
        },
      )
      .finally(() => {
        this.#learning = undefined;
        this.#learnsAgainAtMs = performance.now() + this.#pauseMs;
      });
    this.#learning = learning;
    return learning;
  }

  /** Returns the servers to ask. It begins with another one each time. */
  #listServers(): readonly RedisServer[] {
    const masters = this.#topology?.masters ?? [];
    const names = new Map(
      [...masters, ...this.#target.addresses].map((address) => [formatAddress(address), address]),
    );
    const addresses = [...names.values()];
    const begin = this.#learnCount % addresses.length;
    this.#learnCount += 1;
    const turned = [...addresses.slice(begin), ...addresses.slice(0, begin)];
    return turned.map((address) => this.#getServer(address));
  }

  /** A server without a slot needs no connection. */
  #closeUnused(topology: Topology): void {
    const used = new Set(topology.masters.map(formatAddress));
    for (const [name, server] of this.#servers)
      if (!used.has(name)) {
        server.close();
        this.#servers.delete(name);
      }
  }
}

/** A slot is on its way to this server. Both commands are sent one after the other. */
function askThen(client: RedisClient, run: Send): Promise<unknown> {
  client.call('ASKING').catch(() => {}); // The command itself then fails.
  return run(client);
}

function toNoConnectionError(error: unknown): NoConnectionError {
  return error instanceof NoConnectionError
    ? error
    : new NoConnectionError('any master', new Error(describeError(error), { cause: error }));
}
