/** The failures of requests: a code, the path of the node, and advice. */

const CODES = {
  [-1]: 'SYSTEM_ERROR',
  [-2]: 'RUNTIME_INCONSISTENCY',
  [-3]: 'DATA_INCONSISTENCY',
  [-5]: 'MARSHALLING_ERROR',
  [-6]: 'UNIMPLEMENTED',
  [-7]: 'OPERATION_TIMEOUT',
  [-8]: 'BAD_ARGUMENTS',
  [-101]: 'NO_NODE',
  [-102]: 'NO_AUTH',
  [-103]: 'BAD_VERSION',
  [-108]: 'NO_CHILDREN_FOR_EPHEMERALS',
  [-110]: 'NODE_EXISTS',
  [-111]: 'NOT_EMPTY',
  [-112]: 'SESSION_EXPIRED',
  [-114]: 'INVALID_ACL',
  [-115]: 'AUTH_FAILED',
  [-118]: 'SESSION_MOVED',
  [-119]: 'NOT_READ_ONLY',
  [-121]: 'NO_WATCHER',
  [-122]: 'REQUEST_TIMEOUT',
  [-124]: 'AUTH_REQUIRED',
  [-125]: 'QUOTA_EXCEEDED',
  [-127]: 'THROTTLED',
} as const;

/** A stable name of a failure. The last names are defined by this client, not by ZooKeeper. */
export type ZooKeeperErrorCode =
  | (typeof CODES)[keyof typeof CODES]
  | 'UNKNOWN_ERROR'
  | 'CONNECTION_LOSS'
  | 'PROTOCOL_ERROR'
  | 'TOO_MANY_REQUESTS'
  | 'CLIENT_CLOSED';

const HINTS: { readonly [code in ZooKeeperErrorCode]?: string } = {
  NO_NODE: 'create it, or its parent, first',
  NO_AUTH: 'add the identity that the ACL names with addAuth()',
  BAD_VERSION: 'another client changed it: read it again, then decide again',
  NO_CHILDREN_FOR_EPHEMERALS: 'ephemeral nodes have no children: choose a persistent parent',
  NODE_EXISTS: 'another client created it before: use it as it is, or choose another name',
  NOT_EMPTY: 'delete its children first',
  SESSION_EXPIRED: 'the ensemble gave the session up, with its ephemeral nodes: make a new client',
  INVALID_ACL:
    'give at least one entry with a known scheme, and addAuth() before the scheme "auth"',
  AUTH_FAILED: 'the server refused the identity of addAuth()',
  SESSION_MOVED: 'the session has been taken over by another connection: repeat the request',
  UNIMPLEMENTED:
    'the server is too old, or the feature is switched off (time to live: extendedTypesEnabled)',
  CONNECTION_LOSS: 'the client reconnects by itself; repeat what may be repeated',
  TOO_MANY_REQUESTS: 'wait for some of the requests in flight',
  CLIENT_CLOSED: 'make a new client',
  QUOTA_EXCEEDED: 'the path has a quota (zookeeper.enforceQuota)',
  THROTTLED: 'the server is overloaded: repeat it later',
};

export interface ZooKeeperErrorDetails {
  readonly path?: string | undefined;
  /** The index of the part of a `multi` that failed, from 0. */
  readonly part?: number | undefined;
  /**
   * Whether the request was sent and may have been executed, although no reply showed its outcome.
   */
  readonly mayHaveTakenEffect?: boolean | undefined;
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/**
 * The error of a failed request.
 *
 * @example
 * try {
 *   await zk.delete('/jobs/7', { version: 0 });
 * } catch (error) {
 *   if (isZooKeeperError(error, 'BAD_VERSION')) console.log(error.path, error.hint);
 *   else throw error;
 * }
 */
export class ZooKeeperError extends Error {
  override readonly name = 'ZooKeeperError';
  readonly code: ZooKeeperErrorCode;
  readonly path: string | undefined;
  readonly part: number | undefined;
  readonly hint: string | undefined;
  /**
   * True if a write was sent and no reply reported its outcome: it may have been executed, or may
   * still be executed.
   */
  readonly mayHaveTakenEffect: boolean;

  constructor(code: ZooKeeperErrorCode, details: ZooKeeperErrorDetails = {}) {
    const hint = details.hint ?? HINTS[code];
    const where = details.path === undefined ? '' : ` ${details.path}`;
    const part = details.part === undefined ? '' : ` (part ${details.part} of the multi)`;
    super(`${code}${where}${part}${hint === undefined ? '' : `: ${hint}`}`, {
      cause: details.cause,
    });
    this.code = code;
    this.path = details.path;
    this.part = details.part;
    this.hint = hint;
    this.mayHaveTakenEffect = details.mayHaveTakenEffect ?? false;
  }
}

/**
 * Error codes that leave the outcome of a request open: the server does not know the outcome, or
 * this client does not know the code.
 */
const UNDECIDED_CODES: ReadonlySet<ZooKeeperErrorCode> = new Set([
  'SYSTEM_ERROR',
  'RUNTIME_INCONSISTENCY',
  'DATA_INCONSISTENCY',
  'MARSHALLING_ERROR',
  'OPERATION_TIMEOUT',
  'REQUEST_TIMEOUT',
  'UNKNOWN_ERROR',
]);

/** Returns whether an update with this reply may nevertheless have been executed. */
export function isUndecided(code: ZooKeeperErrorCode): boolean {
  return UNDECIDED_CODES.has(code);
}

/** Returns whether the error has the usual hint of its code. */
export function hasUsualHint({ code, hint }: ZooKeeperError): boolean {
  return hint === HINTS[code];
}

/**
 * Returns whether `error` is a `ZooKeeperError`, with `code` if you pass one. Works across copies
 * of the package.
 */
export function isZooKeeperError(
  error: unknown,
  code?: ZooKeeperErrorCode,
): error is ZooKeeperError {
  return (
    error instanceof Error &&
    error.name === 'ZooKeeperError' &&
    'code' in error &&
    (code === undefined || error.code === code)
  );
}

/**
 * Returns a handler for `catch` that replaces an error of `code` by `value`, and rethrows any other
 * error.
 */
export function replaceErrorWith<T>(code: ZooKeeperErrorCode, value: T): (error: unknown) => T {
  return (error) => {
    if (isZooKeeperError(error, code)) return value;
    throw error;
  };
}

export function getZooKeeperErrorCode(number: number): ZooKeeperErrorCode {
  return (CODES as Readonly<Record<number, ZooKeeperErrorCode>>)[number] ?? 'UNKNOWN_ERROR';
}
