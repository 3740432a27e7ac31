/** The bounds within which a gateway works; what goes beyond is refused, never queued without end. */
import { CorrectableError, invalidArgument } from '../../../correctable/errors.ts';

/** Limits of a gateway that its operator sets. `Infinity` stands for none, except for `frameBytesMax`. */
export interface GatewayLimits {
  /** Most connections at a time; one principal may have half of them. Default 4096. */
  readonly connectionsMax: number;
  /**
   * Most connections from one address; the newcomer gets HTTP 503. Behind a proxy all have the address of that. Where all
   * sites of a port have it, so many and 16 more are taken there, whether they ask for a websocket or not. Default: no
   * limit.
   */
  readonly connectionsPerAddressMax: number;
  /**
   * Operations a second of one principal, over all its connections; more fail with `OVERLOADED`. Without `authenticate`:
   * of one connection. Default: no limit.
   */
  readonly operationsPerSecondMax: number;
  /**
   * Most operations under way on one connection, cancelled ones included while the store has not ended them; more fail
   * with `OVERLOADED`. Default 16 384.
   */
  readonly inFlightMax: number;
  /** Largest frame read, in bytes. Default 1 MiB. */
  readonly frameBytesMax: number;
  /**
   * Bytes for what clients make the gateway keep: half is for requests under way, half for replies kept for a repetition.
   * Of each half a principal may have a half, and a client a quarter; more fails with `OVERLOADED`. So do operations on a
   * connection on which a 64th of all waits to be sent. Default 512 MiB.
   */
  readonly memoryBytesMax: number;
  /** How often every connection is asked whether it is alive. Default 30 000 ms. */
  readonly heartbeatMs: number;
}

/** How many bytes may be in use for one purpose. A frame or reply counts for its client, its principal and for all. */
export interface ByteBudget {
  readonly client: number;
  readonly principal: number;
  readonly total: number;
  /** A client with no more than this gets it, while others may have only what is not set aside. */
  readonly share: number;
}

/** What a gateway works within: its limits, what follows from them, and what no option changes. */
export interface GatewayBounds extends GatewayLimits {
  readonly connectionsPerPrincipalMax: number;
  /** Of requests under way, and the same again of replies kept. */
  readonly budget: ByteBudget;
  /**
   * Bytes waiting to be sent on one connection from which on operations fail with `OVERLOADED`. At four times as many the
   * views of reads do as well, and no more is read from the connection.
   */
  readonly sendBufferBytesMax: number;
  /** Largest view sent, in bytes; larger ones fail their operation. */
  readonly resultBytesMax: number;
  /** Malformed rows or frames of one connection before it is closed. */
  readonly malformedMax: number;
  /** How long a connection may take to say `hello`; what `authenticate` takes is `hookTimeoutMs`. */
  readonly helloTimeoutMs: number;
  /** How long `authenticate` and `authorise` may take. */
  readonly hookTimeoutMs: number;
  /**
   * How long a client may take nothing of what waits for it before its connection is closed. That it reads is seen by
   * every 64 KiB.
   */
  readonly stallTimeoutMs: number;
  /** How long the replies of a client that is gone are kept. */
  readonly clientIdleMs: number;
}

const DEFAULTS: GatewayLimits = {
  connectionsMax: 4_096,
  connectionsPerAddressMax: Infinity,
  operationsPerSecondMax: Infinity,
  inFlightMax: 16_384,
  frameBytesMax: 1 << 20,
  memoryBytesMax: 512 << 20,
  heartbeatMs: 30_000,
};

const FIXED = {
  resultBytesMax: 16 << 20,
  malformedMax: 8,
  helloTimeoutMs: 5_000,
  hookTimeoutMs: 5_000,
  stallTimeoutMs: 60_000,
  clientIdleMs: 600_000,
};

/** Frames are read into memory as a whole, and the welcome names the largest. */
const FRAME_BYTES_MAX = 2 ** 31 - 1;

/** Times and rates may have a fraction, counts may not. */
const FRACTIONAL = /(Ms|PerSecondMax)$/;

/** How long a client should wait before it asks an overloaded gateway again. */
export const OVERLOADED_RETRY_MS = 100;

/** How much more than `sendBufferBytesMax` may wait before even what was admitted is refused. */
export const SEND_BUFFER_OVERRUN = 4;

/** Which part of all is set aside, so that each client has a share whatever the others have. */
const SHARED_OUT = 1 / 4;
/** The least share. */
const SHARE_BYTES_MIN = 4_096;

/** Fills in the defaults. Throws `INVALID_ARGUMENT`, naming the limit. */
export function limitsFrom(given: Partial<GatewayLimits> = {}): GatewayLimits {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidArgument('limits', 'must be an object of limits, or none');
  }
  const limits: Record<keyof GatewayLimits, number> = { ...DEFAULTS };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(DEFAULTS, name)) refuse(name, `is none of ${Object.keys(DEFAULTS).join(', ')}`);
    check(name, value);
    limits[name as keyof GatewayLimits] = value;
  }
  return limits;
}

/** What follows from limits. If everybody is the same principal, that one may have what all may. */
export function boundsFrom(limits: GatewayLimits, hasPrincipals: boolean): GatewayBounds {
  const { connectionsMax, memoryBytesMax } = limits;
  const total = memoryBytesMax / 2;
  return {
    ...limits,
    ...FIXED,
    connectionsPerPrincipalMax: hasPrincipals ? Math.ceil(connectionsMax / 2) : Infinity,
    budget: {
      client: total / 4,
      principal: hasPrincipals ? total / 2 : total,
      total,
      share: Math.max(SHARE_BYTES_MIN, (total * SHARED_OUT) / connectionsMax),
    },
    sendBufferBytesMax: memoryBytesMax / 64,
  };
}

/** How much of all may be in use for a client to have so much itself. */
export function totalFor({ total, share }: ByteBudget, own: number): number {
  return own <= share ? total : total * (1 - SHARED_OUT);
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
