/**
 * The gateway: hosts any binding for clients over websockets. One request comes in, all its views go out; beside the
 * store it is the coordinator that sends the preliminary view before it coordinates (Correctables, OSDI 2016, §5.2).
 */
import { systemClock, type Timer } from '../../correctable/clock.ts';
import type { Binding } from '../../correctable/binding.ts';
import { CorrectableError, isCorrectableError, invalidArgument } from '../../correctable/errors.ts';
import type { NamesOf } from '../../correctable/given.ts';
import type { Levels } from '../../correctable/level.ts';
import type { Catalogue } from '../../protocol/contract/catalogue.ts';
import { lent } from '../../protocol/contract/checked-operation.ts';
import type { Codec } from '../../protocol/codec/codec.ts';
import { jsonCodec } from '../../protocol/codec/json-codec.ts';
import { msgpackCodec } from '../../protocol/codec/msgpack-codec.ts';
import { Addresses } from './host/ip-addresses.ts';
import { ClientTable } from './clients/client-table.ts';
import { compileCatalogue, type CompiledCatalogue } from './host/compile-schema.ts';
import { GatewayConnection } from './connection/connection.ts';
import { checkGatewayOptions, levelsOf } from './gateway-checks.ts';
import type { Authenticate, Authorise, GatewayCounters, GatewayHost, Peer, Principal } from './host/host.ts';
import { setPeerDeadline } from '../../protocol/peer-deadline.ts';
import { peerClock, repeat } from './limits/interval.ts';
import { boundsFrom, limitsFrom, type GatewayBounds, type GatewayLimits } from './limits/limits.ts';
import { TotalLoad } from './limits/load.ts';
import { guardedLogger, silentLogger, type Logger } from './host/logger.ts';
import { checkedOrigins } from './host/origins.ts';
import { hasEnded, identify } from './host/principal.ts';
import { Principals } from './limits/principals.ts';
import type { ServerSocket } from './connection/socket.ts';
import { CloseCode } from '../../protocol/close-codes.ts';

/** What a gateway is made from. */
export interface GatewayOptions<L extends Levels = Levels> {
  /** The store to host. It stays the caller's: the gateway does not close it. */
  readonly binding: Binding<L>;
  /** Name of the site, where the store has several: its clients say where an operation was sent to first. */
  readonly site?: string | undefined;
  /** The operations that clients may name, with schemas for their arguments. Default: all that the binding supports. */
  readonly contract?: Catalogue | undefined;
  /** Origins of pages that may connect, for example `https://shop.example`, beside pages of the same loopback server. */
  readonly origins?: readonly string[] | undefined;
  /** Verifies the client's token. Default: everybody is the same principal. */
  readonly authenticate?: Authenticate | undefined;
  /** Whether a principal may execute an operation. Default: yes. */
  readonly authorise?: Authorise | undefined;
  readonly limits?: Partial<GatewayLimits> | undefined;
  /** Default: silence. */
  readonly logger?: Logger | undefined;
}

const OPTIONS: NamesOf<GatewayOptions> = {
  binding: true,
  site: true,
  contract: true,
  origins: true,
  authenticate: true,
  authorise: true,
  limits: true,
  logger: true,
};

/** What a gateway is doing. */
export interface GatewayStatus extends Readonly<GatewayCounters> {
  /** `stopped`: what it hosts has failed for good. */
  readonly state: 'serving' | 'stopped' | 'draining' | 'closed';
  readonly connections: number;
  /** Operations that the store has not ended, and those that wait for `authorise`; whether anybody waits for them or not. */
  readonly inFlight: number;
  /** Bytes of the frames that they came in, and what each operation takes beside. */
  readonly inFlightBytes: number;
  /** Clients whose replies are kept, connected or not. */
  readonly clients: number;
  /** Updates whose replies are kept. */
  readonly replies: number;
  /** What is kept of clients, in bytes. */
  readonly replyBytes: number;
}

/** Hosts one binding. */
export interface Gateway {
  readonly levels: readonly string[];
  readonly contract: { readonly name: string; readonly hash: string } | undefined;
  readonly origins: readonly string[];
  /** Whether clients must authenticate. */
  readonly authenticated: boolean;
  /** Verifies a token; rejects one that is refused or has ended. */
  authenticate(token: string | undefined, peer: Peer): Promise<Principal>;
  readonly limits: GatewayLimits;
  /** Subprotocols that it speaks, the preferred one first. */
  readonly subprotocols: readonly string[];
  /** Serves a client on a websocket that has been opened with one of `subprotocols`. */
  accept(socket: ServerSocket, peer: Peer): void;
  /** Whether one more connection is welcome. */
  readonly accepting: boolean;
  /** Whether another connection from this address may come, as far as it goes by that. */
  acceptsFrom(address: string | undefined): boolean;
  status(): GatewayStatus;
  /**
   * Says `goaway` to all clients, lets what is under way end within `drainMs` (default 5000), then closes all
   * connections. Clients keep what has no final and submit it again elsewhere or after a restart. Asked again meanwhile,
   * it is the same closing: the shortest `drainMs` counts. `Infinity` waits for all that is under way. Rejects with
   * `INVALID_ARGUMENT`, having done nothing, for a `drainMs` that is no time.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

const DRAIN_MS = 5_000;
/** How often to look for clients that have been gone for too long, at least. */
const SWEEP_MS_MAX = 30_000;

/**
 * Makes a gateway for a binding. `listenGateways` puts it on a port.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit.
 * @example
 * const gateway = createGateway({ binding: memory() });
 * const { siteUrl, close } = await listenGateways({ sites: { local: gateway } });
 */
export function createGateway<L extends Levels>(options: GatewayOptions<L>): Gateway {
  return new BindingGateway(options);
}

/** Creates a gateway as `createGateway` does, with internal bounds that no option sets; for tests. */
export function createGatewayWith<L extends Levels>(
  bounds: Partial<GatewayBounds>,
  options: GatewayOptions<L>,
): Gateway {
  return new BindingGateway(options, bounds);
}

const CODECS: readonly Codec[] = [msgpackCodec, jsonCodec];

class BindingGateway implements Gateway, GatewayHost {
  readonly site: string | undefined;
  readonly binding: Binding;
  readonly levels: readonly string[];
  readonly catalogue: CompiledCatalogue | undefined;
  readonly contract: { readonly name: string; readonly hash: string } | undefined;
  readonly origins: readonly string[];
  readonly authenticated: boolean;
  readonly authorise: Authorise;
  readonly limits: GatewayLimits;
  readonly bounds: GatewayBounds;
  readonly logger: Logger;
  readonly clients: ClientTable;
  readonly principals: Principals;
  readonly load: TotalLoad;
  readonly counters: GatewayCounters = { submitted: 0, malformed: 0, overloaded: 0, misuses: 0 };
  readonly subprotocols: readonly string[] = CODECS.map((codec) => codec.subprotocol);
  readonly #connections = new Set<GatewayConnection>();
  readonly #addresses = new Addresses();
  readonly #levelSets = new Map<number, readonly string[]>();
  readonly #authenticate: Authenticate;
  readonly #stopTimers: readonly (() => void)[];
  #state: GatewayStatus['state'] = 'serving';
  #closing: Closing | undefined;

  constructor(options: GatewayOptions, bounds: Partial<GatewayBounds> = {}) {
    checkGatewayOptions(options, OPTIONS);
    const { binding, contract, authenticate } = options;
    this.site = options.site;
    this.binding = binding.share?.() ?? binding;
    this.levels = levelsOf(binding);
    this.catalogue = contract && compileCatalogue(contract);
    this.contract = contract && { name: contract.name, hash: contract.hash };
    this.origins = checkedOrigins(options.origins);
    this.authenticated = authenticate !== undefined;
    this.#authenticate = authenticate ?? (() => ({ id: '' }));
    const { authorise } = options;
    this.authorise = authorise ? (principal, operation) => authorise(principal, lent(operation)) : () => true;
    this.limits = limitsFrom(options.limits);
    this.bounds = { ...boundsFrom(this.limits, this.authenticated), ...bounds };
    this.logger = guardedLogger(options.logger ?? silentLogger);
    this.load = new TotalLoad(this.bounds.budget);
    this.principals = new Principals(this.bounds);
    this.clients = new ClientTable(this.bounds.budget, (clients) => this.#forgot(clients));
    const checkPeers = (check: () => void, delayMs: number): (() => void) => setPeerDeadline(peerClock, check, delayMs);
    this.#stopTimers = [
      repeat(() => this.#checkAll(), this.bounds.heartbeatMs, checkPeers),
      repeat(() => this.#forgetGone(), Math.min(this.bounds.clientIdleMs, SWEEP_MS_MAX)),
    ];
  }

  get draining(): boolean {
    return this.#state !== 'serving';
  }

  get accepting(): boolean {
    return this.#stateNow === 'serving' && this.#connections.size < this.limits.connectionsMax;
  }

  /** What has failed for good serves nobody, however long its gateway stays. */
  get #stateNow(): GatewayStatus['state'] {
    return this.#state === 'serving' && this.binding.failure !== undefined ? 'stopped' : this.#state;
  }

  acceptsFrom(address: string | undefined): boolean {
    return this.#addresses.connectionsFrom(address) < this.limits.connectionsPerAddressMax;
  }

  identify(token: string | undefined, peer: Peer): Promise<Principal> {
    return identify(this.#authenticate, { token, peer, timeoutMs: this.bounds.hookTimeoutMs });
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
      throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'subprotocol' });
    }
    const connection = new GatewayConnection({ socket, codec, peer, host: this });
    this.#connections.add(connection);
    this.#addresses.enter(connection, peer.remoteAddress);
  }

  closed(connection: GatewayConnection): void {
    this.#connections.delete(connection);
    this.#addresses.leave(connection);
    if (this.#connections.size === 0) this.#closing?.emptied();
  }

  levelsOf(bits: number): readonly string[] {
    let names = this.#levelSets.get(bits);
    if (names === undefined) {
      names = this.levels.filter((_, index) => (bits & (1 << index)) !== 0);
      this.#levelSets.set(bits, names);
    }
    return names;
  }

  report(operation: string, what: string, error: unknown): void {
    if (error === undefined) {
      this.counters.misuses++;
      this.logger.warn({ operation }, what);
    } else if (isCorrectableError(error)) {
      this.logger.debug({ operation, code: error.code }, what);
    } else {
      // The client is told only that it failed: what a store throws may name its tables and machines.
      this.logger.error({ operation, err: error }, what);
    }
  }

  status(): GatewayStatus {
    const { counters, clients, load } = this;
    return {
      state: this.#stateNow,
      connections: this.#connections.size,
      inFlight: load.operations,
      inFlightBytes: load.bytes,
      clients: clients.size,
      replies: clients.replies,
      replyBytes: clients.bytes,
      ...counters,
    };
  }

  async close({ drainMs = DRAIN_MS }: { readonly drainMs?: number } = {}): Promise<void> {
    checkDrainMs(drainMs);
    if (this.#closing === undefined) {
      this.#state = 'draining';
      this.#closing = new Closing(this.#connections, drainMs);
    } else {
      this.#closing.hurry(drainMs);
    }
    await this.#closing.done;
    for (const stop of this.#stopTimers) stop();
    this.#state = 'closed';
  }

  #checkAll(): void {
    for (const connection of this.#connections) connection.checkAlive();
  }

  #forgetGone(): void {
    this.principals.forgetIdle(systemClock.now());
    const forgotten = this.clients.forgetGone(systemClock.now() - this.bounds.clientIdleMs);
    if (forgotten > 0) this.#forgot(forgotten);
  }

  #forgot(clients: number): void {
    this.logger.warn({ clients }, 'forgot the replies of clients that did not come back');
  }
}

/** How long closed connections may take to go, and cut ones to tell that they have gone. */
const CLOSE_GRACE_MS = 1_000;

/** Clients are told no longer time than this, some 12 days: they wait a little longer, and timers end at twice as much. */
const GOAWAY_MS_MAX = 2 ** 30;

/** What is to be closed. */
interface Closable {
  drain(drainMs: number): void;
  close(code: number, reason: string): void;
  terminate(): void;
}

/** Throws `INVALID_ARGUMENT` for what is no time to drain. */
function checkDrainMs(drainMs: unknown): void {
  if (typeof drainMs === 'number' && drainMs >= 0) return;
  throw invalidArgument('drainMs', `give milliseconds from 0 on, or Infinity, not ${String(drainMs)}`);
}

/** A closing that has begun. */
class Closing {
  /** Fulfilled when all connections have gone, or nothing more can be done about them. */
  readonly done: Promise<void>;
  readonly #connections: ReadonlySet<Closable>;
  /** Until when what is under way may end; `undefined` once that is over. */
  #drainsUntil: number | undefined;
  #timer: Timer | undefined;
  #wake: (() => void) | undefined;

  /** @param connections those that are there, each as long as it is */
  constructor(connections: ReadonlySet<Closable>, drainMs: number) {
    this.#connections = connections;
    this.#drainsUntil = systemClock.now() + drainMs;
    this.done = this.#run(drainMs);
  }

  /** It is asked for again: in less time perhaps. */
  hurry(drainMs: number): void {
    const until = systemClock.now() + drainMs;
    if (this.#drainsUntil === undefined || until >= this.#drainsUntil) return;
    this.#drainsUntil = until;
    this.#wakeIn(drainMs);
  }

  /** The last connection has gone. */
  emptied(): void {
    this.#wake?.();
  }

  async #run(drainMs: number): Promise<void> {
    const toldMs = Math.min(Math.ceil(drainMs), GOAWAY_MS_MAX);
    for (const connection of this.#connections) connection.drain(toldMs);
    await this.#empty(drainMs);
    this.#drainsUntil = undefined;
    for (const connection of this.#connections) connection.close(CloseCode.goingAway, 'the server is shutting down');
    await this.#empty(CLOSE_GRACE_MS);
    for (const connection of this.#connections) connection.terminate();
    // A socket that was cut tells so in its own time.
    await this.#empty(CLOSE_GRACE_MS);
  }

  /** Waits until the last connection has gone, but not longer than `withinMs`. */
  async #empty(withinMs: number): Promise<void> {
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
