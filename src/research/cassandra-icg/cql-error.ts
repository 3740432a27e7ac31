/**
 * The failures between this client and a node, as codes. The binding converts them to errors of the
 * application.
 */
import type { ErrorCode } from '../../correctable/errors.ts';

export type CqlErrorCode =
  | 'CONNECTION_LOST' // the connection ended before the answer, or none could be made
  | 'TIMEOUT' // no final answer in time
  | 'SERVER' // the node answered with an error; `server` has it
  | 'AUTHENTICATION' // the node refused the credentials, or wants some
  | 'PROTOCOL' // the node broke the protocol
  | 'BAD_VALUE' // a parameter cannot be written as its column's type
  | 'OVERLOADED' // too many reads in flight in this client
  | 'CLOSED'; // the client was closed

/** What the application gets for a code. For `SERVER`, the code of the node decides. */
const CORRECTABLE_CODES: Readonly<Record<Exclude<CqlErrorCode, 'SERVER'>, ErrorCode>> = {
  CONNECTION_LOST: 'UNAVAILABLE',
  TIMEOUT: 'TIMEOUT',
  AUTHENTICATION: 'UNAUTHENTICATED',
  PROTOCOL: 'PROTOCOL',
  BAD_VALUE: 'INVALID_ARGUMENT',
  OVERLOADED: 'OVERLOADED',
  CLOSED: 'UNAVAILABLE',
};

export interface ServerError {
  /**
   * The code of the protocol, for example `0x1200` for a read timeout. The fields that follow the
   * message of some codes are kept too.
   */
  readonly code: number;
  readonly message: string;
}

export const SERVER_ERROR = {
  badCredentials: 0x0100,
  unavailable: 0x1000,
  readTimeout: 0x1200,
  readFailure: 0x1300,
  unprepared: 0x2500,
} as const;

/**
 * Returns whether the requested number of replicas is the reason. A single replica may have replied
 * all the same.
 */
export function isReplicaShortage({ code }: ServerError): boolean {
  return (
    code === SERVER_ERROR.unavailable ||
    code === SERVER_ERROR.readTimeout ||
    code === SERVER_ERROR.readFailure
  );
}

export interface CqlErrorDetails {
  readonly node?: string | undefined;
  readonly server?: ServerError | undefined;
  readonly cause?: unknown;
}

export class CqlError extends Error {
  override readonly name = 'CqlError';
  readonly code: CqlErrorCode;
  readonly correctableCode: ErrorCode | undefined;
  readonly node: string | undefined;
  readonly server: ServerError | undefined;

  constructor(code: CqlErrorCode, message: string, { node, server, cause }: CqlErrorDetails = {}) {
    super(
      node === undefined ? message : `${node}: ${message}`,
      cause === undefined ? undefined : { cause },
    );
    this.code = code;
    this.correctableCode = code === 'SERVER' ? undefined : CORRECTABLE_CODES[code];
    this.node = node;
    this.server = server;
  }
}

export function createProtocolError(message: string, cause?: unknown): CqlError {
  return new CqlError('PROTOCOL', message, { cause });
}
