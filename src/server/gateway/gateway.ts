/** The gateway: hosts any binding for clients over websockets (Correctables, OSDI 2016, §5.2). */
import { systemClock, type Timer } from '../../correctable/clock.ts';
import type { Binding } from '../../correctable/binding.ts';
import { check, CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import type { Levels } from '../../correctable/level-types.ts';
import { borrowOperation } from '../../protocol/hosting.ts';
import type { Codec } from '../../protocol/codec/codec.ts';
import { jsonCodec } from '../../protocol/codec/json-codec.ts';
import { msgpackCodec } from '../../protocol/codec/msgpack-codec.ts';
import { ConnectionsPerAddress } from './context/ip-addresses.ts';
import { ClientTable } from './clients/client-table.ts';
import { createHostedContract, type HostedContract } from './context/compile-schema.ts';
import { GatewayConnection } from './connection/connection.ts';
import { readGatewayOptions, type GatewayOptions } from './gateway-options.ts';
import { getHostedLevels } from './hosted-levels.ts';
import type {
  Authenticate,
  Authorize,
  GatewayStats,
  GatewayContext,
  Peer,
  Principal,
} from './context/gateway-context.ts';
import { setPeerDeadline } from '../../protocol/peer-deadline.ts';
import { peerClock, repeat } from './limits/repeat.ts';
import {
  deriveLimits,
  fillLimits,
  type InternalLimits,
  type GatewayLimits,
} from './limits/limits.ts';
import { TotalLoad } from './limits/in-flight-load.ts';
import { guardLogger, type Logger } from './context/logger.ts';
import { hasEnded, identify } from './context/principal.ts';
import { OperationStats, type OperationFigures } from './operations/operation-stats.ts';
import { Principals } from './limits/principal-shares.ts';
import type { ServerSocket } from './connection/socket.ts';
import { CloseCode } from '../../protocol/close-codes.ts';

/** The state and load of a gateway. */
export interface GatewayStatus extends Readonly<GatewayStats> {
  /**
   * `waiting`: it does not serve yet, since it waits for `waitingFor`. `stopped`: the hosted
   * binding has failed for good.
   */
  readonly state: 'serving' | 'waiting' | 'stopped' | 'draining' | 'closed';
  readonly waitingFor?: string | undefined;
  /** The reason if the hosted binding refuses updates for now. Reads are still served. */
  readonly writeRefusal?: string | undefined;
  /** The reason if some operations have to wait while others are served. */
  readonly problem?: string | undefined;
  readonly connections: number;
  /**
   * Operations that the store has not ended or that wait for `authorize`, even if no client waits
   * for them.
   */
  readonly inFlight: number;
  /** The size of their frames, plus the overhead of each operation, in bytes. */
  readonly inFlightBytes: number;
  /** Clients whose replies are retained, connected or not. */
  readonly clients: number;
  /** Writes whose replies are retained. */
  readonly replies: number;
  /** Bytes that are retained for clients. */
  readonly replyBytes: number;
}

/** A server part that lets remote clients use one binding. */
export interface Gateway {
  readonly levels: readonly string[];
  readonly contract: { readonly name: string; readonly hash: string } | undefined;
  readonly origins: readonly string[];
  /** Whether clients must authenticate. */
  readonly requiresAuthentication: boolean;
  /** Verifies a token and returns its principal. Rejects if the token is refused or has expired. */
  authenticate(token: string | undefined, peer: Peer): Promise<Principal>;
  readonly limits: GatewayLimits;
  /**
   * The statistics of operations, by name. With a contract, for all names in it. Without a
   * contract, for at most 100 names.
   */
  readonly operations: readonly OperationFigures[];
  /** Supported websocket subprotocols, the preferred one first. */
  readonly subprotocols: readonly string[];
  /** Serves a client on a websocket that was opened with one of `subprotocols`. */
  accept(socket: ServerSocket, peer: Peer): void;
  /** Returns whether the gateway accepts one more connection. */
  readonly isAccepting: boolean;
  /** Returns whether the limits by address allow another connection from this address. */
  acceptsFrom(address: string | undefined): boolean;
  status(): GatewayStatus;
  /**
   * Sends `goaway` to all clients, waits up to `drainMs` for operations in flight, then closes all
   * connections. Default: 5000. `Infinity` waits for all operations. Clients resend operations
   * without a final elsewhere, or after a restart. Several calls share one closing with the
   * shortest `drainMs`. Rejects with `INVALID_ARGUMENT`, without closing, if `drainMs` is invalid.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

const DEFAULT_DRAIN_MS = 5_000;
/**
 * The longest time between two sweeps that forget clients which disconnected too long ago, in
 * milliseconds.
 */
const MAX_SWEEP_INTERVAL_MS = 30_000;

/**
 * Creates a gateway for a binding. `listenGateways` opens a port for it.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` with the name of the invalid option.
 * @example
 * const gateway = createGateway({ binding: memory() });
 * const { siteUrl, close } = await listenGateways({ sites: { local: gateway } });
 */
export function createGateway<L extends Levels>(options: GatewayOptions<L>): Gateway {
  return new BindingGateway(options);
}

/** The state of the site that a gateway serves. */
export interface HostedSite {
  /** Returns the reason if the site accepts no clients. */
  findWaiting(): string | undefined;
  /** Returns the reason if some operations have to wait. */
  findProblem(): string | undefined;
}

/**
 * Creates a gateway with internal limits that no option sets, for a site that may not be ready to
 * serve.
 */
export function createGatewayWith<L extends Levels>(
  overrides: Partial<InternalLimits>,
  options: GatewayOptions<L>,
  site?: HostedSite,
): Gateway {
  return new BindingGateway(options, overrides, site);
}

const CODECS: readonly Codec[] = [msgpackCodec, jsonCodec];

class BindingGateway implements Gateway, GatewayContext {
  readonly site: string | undefined;
  readonly binding: Binding;
  readonly levels: readonly string[];
  readonly hostedContract: HostedContract | undefined;
  readonly contract: { readonly name: string; readonly hash: string } | undefined;
  readonly origins: readonly string[];
  readonly requiresAuthentication: boolean;
  readonly authorize: Authorize | undefined;
  readonly limits: GatewayLimits;
  readonly internalLimits: InternalLimits;
  readonly logger: Logger;
  readonly clients: ClientTable;
  readonly principals: Principals;
  readonly load: TotalLoad;
  readonly operationStats: OperationStats;
  readonly stats: GatewayStats = {
    submitted: 0,
    malformed: 0,
    overloaded: 0,
    bindingViolations: 0,
  };
  readonly subprotocols: readonly string[] = CODECS.map((codec) => codec.subprotocol);
  readonly #connections = new Set<GatewayConnection>();
  readonly #addresses = new ConnectionsPerAddress();
  readonly #levelSets = new Map<number, readonly string[]>();
  readonly #authenticate: Authenticate;
  readonly #hosted: HostedSite | undefined;
  readonly #stopTimers: readonly (() => void)[];
  #state: GatewayStatus['state'] = 'serving';
  #shutdown: Shutdown | undefined;

  constructor(input: GatewayOptions, overrides: Partial<InternalLimits> = {}, hosted?: HostedSite) {
    const options = readGatewayOptions(input);
    this.#hosted = hosted;
    const { binding, contract, authenticate } = options;
    this.site = options.site;
    this.binding = binding.openHandle?.() ?? binding;
    this.levels = getHostedLevels(binding);
    this.contract = contract && { name: contract.name, hash: contract.hash };
    this.operationStats = new OperationStats(contract && Object.keys(contract.operations));
    this.hostedContract =
      contract && createHostedContract(contract, this.binding, this.operationStats);
    this.origins = [...options.origins];
    this.requiresAuthentication = authenticate !== undefined;
    this.#authenticate = authenticate ?? (() => ({ id: '' }));
    const { authorize } = options;
    this.authorize =
      authorize && ((principal, operation) => authorize(principal, borrowOperation(operation)));
    this.limits = fillLimits(options.limits);
    this.internalLimits = {
      ...deriveLimits(this.limits, this.requiresAuthentication),
      ...overrides,
    };
    this.logger = guardLogger(options.logger);
    this.load = new TotalLoad(this.internalLimits.budget);
    this.principals = new Principals(this.internalLimits);
    this.clients = new ClientTable(this.internalLimits.budget, (clients) =>
      this.#onForgotten(clients),
    );
    const checkPeers = (fire: () => void, delayMs: number): (() => void) =>
      setPeerDeadline(peerClock, fire, delayMs);
    const { heartbeatIntervalMs, clientIdleMs } = this.internalLimits;
    this.#stopTimers = [
      repeat(
        () => this.#connections.forEach((item) => item.checkAlive()),
        heartbeatIntervalMs,
        checkPeers,
      ),
      repeat(() => this.#forgetGone(), Math.min(clientIdleMs, MAX_SWEEP_INTERVAL_MS)),
    ];
  }

  get operations(): readonly OperationFigures[] {
    return this.operationStats.all;
  }

  get isDraining(): boolean {
    return this.#state !== 'serving';
  }

  get isAccepting(): boolean {
    return this.#currentState === 'serving' && this.#connections.size < this.limits.maxConnections;
  }

  /**
   * If the binding has failed for good, the gateway is `stopped`, even while it is being closed so
   * that clients move to another site.
   */
  get #currentState(): GatewayStatus['state'] {
    if (this.binding.failure !== undefined) return 'stopped';
    return this.#state === 'serving' && this.#hosted?.findWaiting() !== undefined
      ? 'waiting'
      : this.#state;
  }

  acceptsFrom(address: string | undefined): boolean {
    return this.#addresses.count(address) < this.limits.maxConnectionsPerAddress;
  }

  identify(token: string | undefined, peer: Peer): Promise<Principal> {
    return identify(this.#authenticate, {
      token,
      peer,
      timeoutMs: this.internalLimits.hookTimeoutMs,
    });
  }

  async authenticate(token: string | undefined, peer: Peer): Promise<Principal> {
    const principal = await this.identify(token, peer);
    if (hasEnded(principal)) throw new CorrectableError('UNAUTHENTICATED', 'the token has ended');
    return principal;
  }

  accept(socket: ServerSocket, peer: Peer): void {
    const codec = CODECS.find(({ subprotocol }) => subprotocol === socket.subprotocol);
    if (codec === undefined) {
      const message = `the subprotocol must be one of ${this.subprotocols.join(', ')}, not "${socket.subprotocol}"`;
      throw new CorrectableError('INVALID_ARGUMENT', message, {
        field: 'subprotocol',
      });
    }
    const connection = new GatewayConnection(socket, codec, peer, this);
    this.#connections.add(connection);
    this.#addresses.enter(connection, peer.remoteAddress);
  }

  onConnectionClosed(connection: GatewayConnection): void {
    this.#connections.delete(connection);
    this.#addresses.leave(connection);
    if (this.#connections.size === 0) this.#shutdown?.onEmpty();
  }

  getLevels(bits: number): readonly string[] {
    let names = this.#levelSets.get(bits);
    if (names === undefined) {
      names = this.levels.filter((_, index) => (bits & (1 << index)) !== 0);
      this.#levelSets.set(bits, names);
    }
    return names;
  }

  report(operation: string, description: string, error: unknown): void {
    if (error === undefined) {
      this.stats.bindingViolations++;
      this.logger.warn({ operation }, description);
    } else if (isCorrectableError(error)) {
      this.logger.debug({ operation, code: error.code }, description);
    } else {
      // Log the error here. The client learns only that the operation failed, because a store's
      // error may name its tables and machines.
      this.logger.error({ operation, err: error }, description);
    }
  }

  status(): GatewayStatus {
    const { stats, clients, load } = this;
    return {
      state: this.#currentState,
      waitingFor: this.#currentState === 'waiting' ? this.#hosted?.findWaiting() : undefined,
      writeRefusal: this.binding.writeRefusal?.message,
      problem: this.#hosted?.findProblem(),
      connections: this.#connections.size,
      inFlight: load.operations,
      inFlightBytes: load.bytes,
      clients: clients.size,
      replies: clients.replies,
      replyBytes: clients.bytes,
      ...stats,
    };
  }

  async close({ drainMs = DEFAULT_DRAIN_MS }: { readonly drainMs?: number } = {}): Promise<void> {
    const isTime = typeof drainMs === 'number' && drainMs >= 0;
    check(isTime, 'drainMs', `give milliseconds from 0 on, or Infinity, not ${String(drainMs)}`);
    if (this.#shutdown === undefined) {
      this.#state = 'draining';
      this.#shutdown = new Shutdown(this.#connections, drainMs);
    } else {
      this.#shutdown.shortenDrain(drainMs);
    }
    await this.#shutdown.done;
    for (const stop of this.#stopTimers) stop();
    this.#state = 'closed';
  }

  #forgetGone(): void {
    this.principals.forgetIdle(systemClock.now());
    const forgotten = this.clients.forgetGone(systemClock.now() - this.internalLimits.clientIdleMs);
    if (forgotten > 0) this.#onForgotten(forgotten);
  }

  #onForgotten(clients: number): void {
    this.logger.warn({ clients }, 'forgot the replies of clients that did not come back');
  }
}

/**
 * How long closing connections may take to close, and cut connections to report that they are
 * closed.
 */
const CLOSE_GRACE_MS = 1_000;

/**
 * The longest drain time that is sent to clients, about 12 days. Clients wait a little longer, and
 * timers end at twice as much.
 */
const MAX_GOAWAY_MS = 2 ** 30;

/** One closing of the gateway, which several calls may share. */
class Shutdown {
  /** Fulfilled when all connections are closed, or nothing more can be done to close them. */
  readonly done: Promise<void>;
  readonly #connections: ReadonlySet<GatewayConnection>;
  /** Until when operations in flight may end; `undefined` once that is over. */
  #drainsUntil: number | undefined;
  #timer: Timer | undefined;
  #wake: (() => void) | undefined;

  /** @param connections the open ones; a connection leaves the set when it closes */
  constructor(connections: ReadonlySet<GatewayConnection>, drainMs: number) {
    this.#connections = connections;
    this.#drainsUntil = systemClock.now() + drainMs;
    this.done = this.#run(drainMs);
  }

  /** Shortens the drain, because another call of `close` allows less time. */
  shortenDrain(drainMs: number): void {
    const until = systemClock.now() + drainMs;
    if (this.#drainsUntil === undefined || until >= this.#drainsUntil) return;
    this.#drainsUntil = until;
    this.#wakeIn(drainMs);
  }

  /** Called when the last connection has closed. */
  onEmpty(): void {
    this.#wake?.();
  }

  async #run(drainMs: number): Promise<void> {
    const graceMs = Math.min(Math.ceil(drainMs), MAX_GOAWAY_MS);
    for (const connection of this.#connections) connection.drain(graceMs);
    await this.#waitUntilEmpty(drainMs);
    this.#drainsUntil = undefined;
    for (const connection of this.#connections)
      connection.close(CloseCode.goingAway, 'the server is shutting down');
    await this.#waitUntilEmpty(CLOSE_GRACE_MS);
    for (const connection of this.#connections) connection.terminate();
    // A socket that was cut reports that later.
    await this.#waitUntilEmpty(CLOSE_GRACE_MS);
  }

  /** Waits until the last connection has closed, but not longer than `withinMs`. */
  async #waitUntilEmpty(withinMs: number): Promise<void> {
    if (this.#connections.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#wakeIn(withinMs);
    });
    this.#timer?.cancel();
  }

  #wakeIn(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = systemClock.setTimer(() => this.#wake?.(), delayMs);
  }
}
