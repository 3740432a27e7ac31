/** The options of a client. */
import { isRecord } from '../../../correctable/validate.ts';
import { ZooKeeperError } from './errors.ts';

/** The credentials with which a client resumes a session. The password is a secret. */
export interface Credentials {
  readonly sessionId: bigint;
  readonly password: Uint8Array;
}

export interface ZooKeeperOptions {
  /**
   * How long the ensemble keeps a session without messages, in ms; servers may change it. Default:
   * 12 000.
   */
  readonly sessionTimeoutMs?: number;
  /**
   * Maximum request size in bytes. Above its `jute.maxbuffer`, a server closes the connection.
   * Default: 1 000 000.
   */
  readonly maxRequestBytes?: number;
  /** Maximum reply size in bytes. Default: 16 MiB. */
  readonly maxReplyBytes?: number;
  /** The session to resume, of a client that was not closed. Default: a new session. */
  readonly credentials?: Credentials;
  /**
   * Returns a transaction of another session. This client connects only to servers that have
   * applied both this transaction and its own last one, because it reads for that session too.
   */
  readonly getMinZxid?: () => bigint;
  /** Called with errors that listeners throw. Default: they become uncaught exceptions. */
  readonly onUncaught?: (error: unknown) => void;
}

export type ResolvedOptions = Required<Omit<ZooKeeperOptions, 'credentials'>> & {
  readonly credentials: Credentials | undefined;
};

const MIB = 1024 * 1024;
/** Default of the maximum request size. Servers reject more than 1 MiB, including headers. */
export const DEFAULT_MAX_REQUEST_BYTES = 1_000_000;

/** @throws ZooKeeperError `BAD_ARGUMENTS` that names the field */
export function resolveOptions(options: ZooKeeperOptions): ResolvedOptions {
  const value: unknown = options;
  if (!isRecord(value)) {
    const hint =
      "options: give an object, as new ZooKeeper('127.0.0.1:2181', { sessionTimeoutMs: 12_000 })";
    throw new ZooKeeperError('BAD_ARGUMENTS', { hint });
  }
  return {
    sessionTimeoutMs: checkPositive(options, 'sessionTimeoutMs', 12_000),
    credentials: options.credentials,
    maxRequestBytes: checkPositive(options, 'maxRequestBytes', DEFAULT_MAX_REQUEST_BYTES),
    maxReplyBytes: checkPositive(options, 'maxReplyBytes', 16 * MIB),
    getMinZxid: options.getMinZxid ?? (() => 0n),
    onUncaught: options.onUncaught ?? throwAsync,
  };
}

type NumberField = 'sessionTimeoutMs' | 'maxRequestBytes' | 'maxReplyBytes';

function checkPositive(
  options: ZooKeeperOptions,
  field: NumberField,
  defaultValue: number,
): number {
  const value = options[field] ?? defaultValue;
  if (Number.isInteger(value) && value > 0 && value < 2 ** 31) return value;
  throw new ZooKeeperError('BAD_ARGUMENTS', {
    hint: `${field}: give an integer above 0`,
  });
}

function throwAsync(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
