/** The bounds within which a gateway works; what goes beyond is refused, never queued without end. */
import { CorrectableError } from '../../correctable/errors.ts';

/** Bounds of a gateway. */
export interface GatewayLimits {
  /** Largest frame read, in bytes. Default 1 MiB. */
  readonly frameBytesMax: number;
  /** Most operations under way on one connection; more fail with `OVERLOADED`. Default 16 384. */
  readonly inFlightMax: number;
  /** Most updates of one client whose replies are kept for a repetition. Default 65 536. */
  readonly repliesMax: number;
  /**
   * Bytes waiting to be sent on one connection from which on operations fail with `OVERLOADED`; at twice as many the
   * connection is cut. Default 8 MiB.
   */
  readonly sendBufferBytesMax: number;
  /** Operations a second of one connection; more fail with `OVERLOADED`. Default: no limit. */
  readonly operationsPerSecondMax: number;
  /** Most connections at a time. Default 4096. */
  readonly connectionsMax: number;
  /** Malformed rows or frames of one connection before it is closed. Default 8. */
  readonly malformedMax: number;
  /** How long a connection may take to say `hello` and be let in. Default 5000 ms. */
  readonly helloTimeoutMs: number;
  /** How often every connection is asked whether it is alive. Default 30 000 ms. */
  readonly heartbeatMs: number;
  /** How long the replies of a client that is gone are kept. Default 600 000 ms. */
  readonly clientIdleMs: number;
}

const DEFAULTS: GatewayLimits = {
  frameBytesMax: 1 << 20,
  inFlightMax: 16_384,
  repliesMax: 65_536,
  sendBufferBytesMax: 8 << 20,
  operationsPerSecondMax: Infinity,
  connectionsMax: 4_096,
  malformedMax: 8,
  helloTimeoutMs: 5_000,
  heartbeatMs: 30_000,
  clientIdleMs: 600_000,
};

/** How long a client should wait before it asks an overloaded gateway again. */
export const OVERLOADED_RETRY_MS = 100;

/** Fills in the defaults. Throws `INVALID_ARGUMENT`, naming the limit. */
export function limitsFrom(given: Partial<GatewayLimits> = {}): GatewayLimits {
  const limits = { ...DEFAULTS, ...given };
  for (const [name, value] of Object.entries(limits)) {
    if (typeof value === 'number' && value > 0) continue;
    const field = `limits.${name}`;
    throw new CorrectableError('INVALID_ARGUMENT', `${field}: must be a positive number, not ${value}`, { field });
  }
  return limits;
}
