/** How a client is made. */
import { isRecord } from '../../../correctable/validate.ts';
import { ZooKeeperError } from './errors.ts';

/** What it takes to take up a session again. The password is a secret. */
export interface Credentials {
  readonly sessionId: bigint;
  readonly password: Uint8Array;
}

export interface ZooKeeperOptions {
  /** How long the ensemble keeps the session without hearing of it, in milliseconds; the servers may change it. 12 000. */
  readonly sessionTimeoutMs?: number;
  /** A server, `host:port`, to be connected to whenever it can be. */
  readonly preferredServer?: string;
  /** Most requests in flight or waiting at once; more are refused. 10 000. */
  readonly maxRequests?: number;
  /** Largest request in bytes: the server closes the connection over its `jute.maxbuffer`. 1 000 000. */
  readonly maxRequestBytes?: number;
  /** Largest reply in bytes. 16 MiB. */
  readonly maxReplyBytes?: number;
  /** A session to go on with, of a client that was not closed; a new one unless given. */
  readonly credentials?: Credentials;
  /** A transaction that the client must not fall behind, beside its own: another session that it reads for. */
  readonly getMinZxid?: () => bigint;
  /** Gets what listeners throw. An uncaught exception unless given. */
  readonly onUncaught?: (error: unknown) => void;
}

export type ResolvedOptions = Required<Omit<ZooKeeperOptions, 'preferredServer' | 'credentials'>> & {
  readonly credentials: Credentials | undefined;
  readonly preferredServer: string | undefined;
};

const MIB = 1024 * 1024;
/** Largest request unless given: servers refuse more than 1 MiB, headers included. */
export const DEFAULT_MAX_REQUEST_BYTES = 1_000_000;

/** @throws ZooKeeperError `BAD_ARGUMENTS` that names the field */
export function resolveOptions(options: ZooKeeperOptions): ResolvedOptions {
  const value: unknown = options;
  if (!isRecord(value)) {
    const hint = "options: give an object, as new ZooKeeper('127.0.0.1:2181', { sessionTimeoutMs: 12_000 })";
    throw new ZooKeeperError('BAD_ARGUMENTS', { hint });
  }
  return {
    sessionTimeoutMs: checkPositive(options, 'sessionTimeoutMs', 12_000),
    preferredServer: options.preferredServer,
    credentials: options.credentials,
    maxRequests: checkPositive(options, 'maxRequests', 10_000),
    maxRequestBytes: checkPositive(options, 'maxRequestBytes', DEFAULT_MAX_REQUEST_BYTES),
    maxReplyBytes: checkPositive(options, 'maxReplyBytes', 16 * MIB),
    getMinZxid: options.getMinZxid ?? (() => 0n),
    onUncaught: options.onUncaught ?? throwAsync,
  };
}

type NumberField = 'sessionTimeoutMs' | 'maxRequests' | 'maxRequestBytes' | 'maxReplyBytes';

function checkPositive(options: ZooKeeperOptions, field: NumberField, unlessGiven: number): number {
  const value = options[field] ?? unlessGiven;
  if (Number.isInteger(value) && value > 0 && value < 2 ** 31) return value;
  throw new ZooKeeperError('BAD_ARGUMENTS', { hint: `${field}: give an integer above 0` });
}

function throwAsync(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
