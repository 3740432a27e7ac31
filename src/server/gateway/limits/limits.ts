/** The bounds within which a gateway works; what goes beyond is refused, never queued without end. */
import { CorrectableError, invalidArgument } from '../../../correctable/errors.ts';

/** Bounds of a gateway. `Infinity` stands for none, except for `frameBytesMax`. */
export interface GatewayLimits {
  /** Largest frame read, in bytes. Default 1 MiB. */
  readonly frameBytesMax: number;
  /** Largest view sent, in bytes; larger ones fail their operation. Default 16 MiB. */
  readonly resultBytesMax: number;
  /**
   * Most operations under way on one connection, cancelled ones included while the store has not ended them; more fail
   * with `OVERLOADED`. Default 16 384.
   */
  readonly inFlightMax: number;
  /**
   * Bytes received of one connection that its operations under way, and those that wait for `authorise`, came in; more
   * fail with `OVERLOADED`. Default 64 MiB.
   */
  readonly inFlightBytesMax: number;
  /**
   * The same, of all connections of one principal, also those that are gone. Default 128 MiB; none where everybody is the
   * same principal, for want of `authenticate`.
   */
  readonly inFlightBytesPerPrincipalMax: number;
  /**
   * The same, of all connections of the gateway. A quarter is set aside, shared out among `connectionsMax` connections.
   * Default 256 MiB.
   */
  readonly inFlightBytesTotalMax: number;
  /** Most updates of one client whose replies are kept for a repetition; more fail with `OVERLOADED`. Default 65 536. */
  readonly repliesMax: number;
  /** Bytes kept of the replies of one client; beyond them its updates fail with `OVERLOADED`. Default 32 MiB. */
  readonly repliesBytesMax: number;
  /**
   * Bytes kept of all clients of one principal. To make room, its own clients that are gone are forgotten, and where that
   * is not enough, its updates fail with `OVERLOADED`. Default 128 MiB; none where everybody is the same principal.
   */
  readonly repliesBytesPerPrincipalMax: number;
  /**
   * Bytes kept of all clients. To make room, clients that are gone are forgotten, and where that is not enough, updates
   * fail with `OVERLOADED`. A quarter is set aside, shared out among `connectionsMax` clients. Default 256 MiB.
   */
  readonly repliesBytesTotalMax: number;
  /**
   * Bytes waiting to be sent on one connection from which on operations fail with `OVERLOADED`. At four times as many the
   * views of reads do as well, and no more is read from the connection. Default 8 MiB.
   */
  readonly sendBufferBytesMax: number;
  /** Operations a second of one connection; more fail with `OVERLOADED`. Default: no limit. */
  readonly operationsPerSecondMax: number;
  /** Operations a second of one principal, over all its connections; more fail with `OVERLOADED`. Default: no limit. */
  readonly operationsPerSecondPerPrincipalMax: number;
  /** Most connections at a time. Default 4096. */
  readonly connectionsMax: number;
  /** Most connections of one principal; the newcomer is closed with 1013, and tries again. Default: no limit. */
  readonly connectionsPerPrincipalMax: number;
  /**
   * Most connections from one address; the newcomer gets HTTP 503. Behind a proxy all have the address of that. Where all
   * sites of a port have it, so many and 16 more are taken there, whether they ask for a websocket or not. Default: no
   * limit.
   */
  readonly connectionsPerAddressMax: number;
  /** Malformed rows or frames of one connection before it is closed. Default 8. */
  readonly malformedMax: number;
  /** How long a connection may take to say `hello`; what `authenticate` takes is `hookTimeoutMs`. Default 5000 ms. */
  readonly helloTimeoutMs: number;
  /** How long `authenticate` and `authorise` may take. Default 5000 ms. */
  readonly hookTimeoutMs: number;
  /**
   * How long a client may take nothing of what waits for it before its connection is closed. That it reads is seen by
   * every 64 KiB. Default 60 000 ms.
   */
  readonly stallTimeoutMs: number;
  /** How often every connection is asked whether it is alive. Default 30 000 ms. */
  readonly heartbeatMs: number;
  /** How long the replies of a client that is gone are kept. Default 600 000 ms. */
  readonly clientIdleMs: number;
}

const DEFAULTS: GatewayLimits = {
  frameBytesMax: 1 << 20,
  resultBytesMax: 16 << 20,
  inFlightMax: 16_384,
  inFlightBytesMax: 64 << 20,
  inFlightBytesPerPrincipalMax: 128 << 20,
  inFlightBytesTotalMax: 256 << 20,
  repliesMax: 65_536,
  repliesBytesMax: 32 << 20,
  repliesBytesPerPrincipalMax: 128 << 20,
  repliesBytesTotalMax: 256 << 20,
  sendBufferBytesMax: 8 << 20,
  operationsPerSecondMax: Infinity,
  operationsPerSecondPerPrincipalMax: Infinity,
  connectionsMax: 4_096,
  connectionsPerPrincipalMax: Infinity,
  connectionsPerAddressMax: Infinity,
  malformedMax: 8,
  helloTimeoutMs: 5_000,
  hookTimeoutMs: 5_000,
  stallTimeoutMs: 60_000,
  heartbeatMs: 30_000,
  clientIdleMs: 600_000,
};

/** Frames are read into memory as a whole, and the largest is told to the client. */
const FRAME_BYTES_MAX = 2 ** 31 - 1;

/** Times and rates may have a fraction, counts may not. */
const FRACTIONAL = /(Ms|PerSecondMax|PerSecondPerPrincipalMax)$/;

/** How long a client should wait before it asks an overloaded gateway again. */
export const OVERLOADED_RETRY_MS = 100;

/** How much more than `sendBufferBytesMax` may wait before even what was admitted is refused. */
export const SEND_BUFFER_OVERRUN = 4;

/** Where everybody is the same principal, what one may take is what all may, unless it is said. */
const DEFAULTS_WITHOUT_PRINCIPALS: GatewayLimits = {
  ...DEFAULTS,
  inFlightBytesPerPrincipalMax: Infinity,
  repliesBytesPerPrincipalMax: Infinity,
};

/**
 * Fills in the defaults; `hasPrincipals`: those of a gateway that tells its principals apart. Throws `INVALID_ARGUMENT`,
 * naming the limit.
 */
export function limitsFrom(given: Partial<GatewayLimits> = {}, hasPrincipals = true): GatewayLimits {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidArgument('limits', 'must be an object of limits, or none');
  }
  const limits: Record<keyof GatewayLimits, number> = { ...(hasPrincipals ? DEFAULTS : DEFAULTS_WITHOUT_PRINCIPALS) };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(DEFAULTS, name)) refuse(name, `is none of ${Object.keys(DEFAULTS).join(', ')}`);
    check(name, value);
    limits[name as keyof GatewayLimits] = value;
  }
  return limits;
}

function check(name: string, value: unknown): void {
  const isPositive = typeof value === 'number' && value > 0;
  if (name === 'frameBytesMax') {
    if (isPositive && Number.isInteger(value) && value <= FRAME_BYTES_MAX) return;
    refuse(name, `must be a whole number from 1 to ${FRAME_BYTES_MAX}, not ${String(value)}`);
  }
  if (isPositive && (value === Infinity || FRACTIONAL.test(name) || Number.isSafeInteger(value))) return;
  const what = FRACTIONAL.test(name) ? 'a positive number' : 'a whole number from 1 on';
  refuse(name, `must be ${what}, or Infinity for no limit, not ${String(value)}`);
}

function refuse(name: string, problem: string): never {
  const field = `limits.${name}`;
  throw new CorrectableError('INVALID_ARGUMENT', `${field}: ${problem}`, { field });
}
