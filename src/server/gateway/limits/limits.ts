/**
 * The limits of a gateway. Operations and connections above them are refused, so that no queue
 * grows without a bound.
 */
import {
  amount,
  integer,
  optional,
  readOptions,
  type OptionsOf,
} from '../../../correctable/options.ts';

/** Limits of a gateway. `Infinity` means no limit, except for `maxFrameBytes`. */
export interface GatewayLimits {
  /** Maximum number of connections. One principal may have half of them. Default: 4096 */
  readonly maxConnections: number;
  /**
   * Maximum number of connections from one address. More get HTTP 503. Behind a proxy, all have the
   * proxy's address. If all sites of a port set it, the port accepts this many and 16 more,
   * websocket or not. Default: no limit
   */
  readonly maxConnectionsPerAddress: number;
  /**
   * Operations a second of one principal over all its connections, or of one connection without
   * `authenticate`. More fail with `OVERLOADED`. Default: no limit
   */
  readonly maxOperationsPerSecond: number;
  /**
   * Maximum number of operations in flight on one connection. Canceled ones count until the store
   * has ended them. More fail with `OVERLOADED`. Default: 16 384
   */
  readonly maxInFlight: number;
  /** Size of the largest accepted frame, in bytes. Default: 1 MiB */
  readonly maxFrameBytes: number;
  /**
   * Memory for clients, in bytes: half for requests in flight, half for replies that are retained
   * for retries. A principal may use half of each half, and a client a quarter. More fail with
   * `OVERLOADED`. So do operations on a connection with more than a 64th of the limit waiting to be
   * sent. Default: 512 MiB. The sites of `serve` share at most an eighth of the heap by default.
   */
  readonly maxMemoryBytes: number;
  /**
   * How often the gateway sends a heartbeat on every connection, in milliseconds. Default: 30 000
   */
  readonly heartbeatIntervalMs: number;
}

/**
 * How many bytes may be in use for one purpose. A frame or reply counts for its client, for its
 * principal, and for all clients.
 */
export interface ByteBudget {
  readonly client: number;
  readonly principal: number;
  readonly total: number;
  /**
   * A client that uses no more than this may use all of `total`. Others leave the reserved part
   * free.
   */
  readonly share: number;
}

/**
 * The limits of a gateway, with limits that are derived from them, and with limits that no option
 * sets.
 */
export interface InternalLimits extends GatewayLimits {
  readonly maxConnectionsPerPrincipal: number;
  /** The budget of requests in flight. Retained replies have another budget of the same size. */
  readonly budget: ByteBudget;
  /**
   * From this many waiting bytes on, operations of a connection fail with `OVERLOADED`. At four
   * times as many, views of reads fail too, and nothing more is read from the connection.
   */
  readonly maxSendBufferBytes: number;
  /** Largest view that is sent, in bytes. An operation with a larger one fails. */
  readonly maxResultBytes: number;
  /** Malformed messages or frames of one connection before it is closed. */
  readonly maxMalformedMessages: number;
  /**
   * How long a connection may take to send `hello`. The time for `authenticate` is `hookTimeoutMs`.
   */
  readonly helloTimeoutMs: number;
  /** How long `authenticate` and `authorize` may take. */
  readonly hookTimeoutMs: number;
  /** How long a client may receive none of the waiting bytes before its connection is closed. */
  readonly stallTimeoutMs: number;
  /** How long the replies of a client without a connection are kept. */
  readonly clientIdleMs: number;
}

const count = integer({ max: Infinity });
/** Times and rates may have a fraction, counts may not. */
const timeOrRate = amount({ above: 0, max: Infinity });

/** The upper bound of `maxFrameBytes`: a frame is read into memory as a whole. */
const MAX_FRAME_BYTES = 2 ** 31 - 1;

export const GATEWAY_LIMITS = {
  maxConnections: optional(count, 4_096),
  maxConnectionsPerAddress: optional(count, Infinity),
  maxOperationsPerSecond: optional(timeOrRate, Infinity),
  maxInFlight: optional(count, 16_384),
  maxFrameBytes: optional(integer({ max: MAX_FRAME_BYTES }), 1 << 20),
  maxMemoryBytes: optional(count, 512 << 20),
  heartbeatIntervalMs: optional(timeOrRate, 30_000),
} satisfies OptionsOf<GatewayLimits>;

const FIXED_LIMITS = {
  maxResultBytes: 16 << 20,
  maxMalformedMessages: 8,
  helloTimeoutMs: 5_000,
  hookTimeoutMs: 5_000,
  stallTimeoutMs: 60_000,
  clientIdleMs: 600_000,
};

/** How long a client should wait before it retries at an overloaded gateway. */
export const OVERLOADED_RETRY_MS = 100;

/** How many times `maxSendBufferBytes` may wait before even admitted operations fail. */
export const SEND_BUFFER_OVERRUN = 4;

/**
 * The part of the total that is reserved, so that each client can have its share no matter what
 * others use.
 */
const RESERVED_SHARE = 1 / 4;
/** The smallest share of a client. */
const MIN_SHARE_BYTES = 4_096;
/** With less, the view of one large row would end a connection. */
const MIN_SEND_BUFFER_BYTES = 2 ** 21;

/** Fills in the defaults. Throws `INVALID_ARGUMENT` with the name of the limit. */
export function fillLimits(input: Partial<GatewayLimits> = {}): GatewayLimits {
  const usage = {
    call: '{ limits: { maxConnections: 1000 } }',
    field: 'limits',
  };
  return readOptions(input, usage, GATEWAY_LIMITS);
}

/**
 * Derives the internal limits. Without `authenticate` all clients are one principal, so that one
 * may use everything.
 */
export function deriveLimits(limits: GatewayLimits, hasPrincipals: boolean): InternalLimits {
  const { maxConnections, maxMemoryBytes } = limits;
  const total = maxMemoryBytes / 2;
  return {
    ...limits,
    ...FIXED_LIMITS,
    maxConnectionsPerPrincipal: hasPrincipals ? Math.ceil(maxConnections / 2) : Infinity,
    budget: {
      client: total / 4,
      principal: hasPrincipals ? total / 2 : total,
      total,
      share: Math.max(MIN_SHARE_BYTES, (total * RESERVED_SHARE) / maxConnections),
    },
    maxSendBufferBytes: Math.max(MIN_SEND_BUFFER_BYTES, maxMemoryBytes / 64),
  };
}

/** Returns how many bytes all clients may use if one client uses `own`. */
export function computeUsableTotal({ total, share }: ByteBudget, own: number): number {
  return own <= share ? total : total * (1 - RESERVED_SHARE);
}
