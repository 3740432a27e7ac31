/** What can go wrong between this client and a node, as a code; the binding makes the application's error of it. */

/**
 * - `CONNECTION_LOST`: the connection ended before the answer, or none could be made.
 * - `TIMEOUT`: no final answer in time.
 * - `SERVER`: the node answered with an error; `server` has it.
 * - `AUTHENTICATION`: the node refused the credentials, or wants some.
 * - `PROTOCOL`: the node said what the protocol does not allow.
 * - `BAD_VALUE`: a parameter cannot be written as its column's type.
 * - `OVERLOADED`: too many reads under way in this client.
 * - `CLOSED`: the client was closed.
 */
export type CqlErrorCode =
  | 'CONNECTION_LOST'
  | 'TIMEOUT'
  | 'SERVER'
  | 'AUTHENTICATION'
  | 'PROTOCOL'
  | 'BAD_VALUE'
  | 'OVERLOADED'
  | 'CLOSED';

/** An ERROR message of a node. */
export interface ServerError {
  /** As in the protocol, `0x1200` for a read time-out. */
  readonly code: number;
  readonly message: string;
  /** Of errors about replicas: how many had to answer, how many did or are alive, how many failed. */
  readonly consistency?: number;
  readonly required?: number;
  readonly received?: number;
  readonly alive?: number;
  readonly failures?: number;
  /** Whether the replica asked for the data answered. */
  readonly hasData?: boolean;
  /** Of `UNPREPARED`: the statement that the node does not know. */
  readonly unpreparedId?: Buffer;
}

export interface CqlErrorDetails {
  /** The node, `host:port`. */
  readonly node?: string | undefined;
  readonly server?: ServerError | undefined;
  readonly cause?: unknown;
}

/** A failed read or connection. */
export class CqlError extends Error {
  override readonly name = 'CqlError';
  readonly code: CqlErrorCode;
  readonly node: string | undefined;
  readonly server: ServerError | undefined;

  constructor(code: CqlErrorCode, message: string, { node, server, cause }: CqlErrorDetails = {}) {
    super(node === undefined ? message : `${node}: ${message}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.node = node;
    this.server = server;
  }
}

export function protocolError(message: string, cause?: unknown): CqlError {
  return new CqlError('PROTOCOL', message, { cause });
}
