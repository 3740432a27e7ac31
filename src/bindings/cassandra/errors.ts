/** Converts failures of the driver and of the native protocol to those of a Correctable. */
import { CorrectableError, isCorrectableError, type ErrorCode } from '../../correctable/errors.ts';
import type { Access } from '../../correctable/operation.ts';

/** Error codes of the native protocol that reveal the outcome of a request. */
const SERVER_ERROR_CODES: Readonly<Record<number, ErrorCode>> = {
  0x0100: 'UNAUTHENTICATED',
  0x1000: 'UNAVAILABLE',
  0x1001: 'OVERLOADED',
  0x1002: 'UNAVAILABLE', // bootstrapping
  0x1100: 'TIMEOUT', // a read that had to end a conditional write first
  0x1200: 'TIMEOUT',
  0x1300: 'UNAVAILABLE', // read failure: replicas answered that they could not
  0x1500: 'UNAVAILABLE', // as a write timeout, but replicas have failed
  0x2000: 'FINAL_FAILED', // syntax
  0x2100: 'FORBIDDEN',
  0x2200: 'INVALID_ARGUMENT', // for example, an empty key
  0x2300: 'FINAL_FAILED', // configuration
  0x2500: 'UNAVAILABLE', // a statement that was prepared again in vain
};

/**
 * Error codes of servers that prove that an update was not applied. Errors of the driver before the
 * update was sent prove it too.
 */
const REJECTION_CODES: ReadonlySet<number> = new Set([
  0x0100, 0x1002, 0x2000, 0x2100, 0x2200, 0x2300, 0x2500,
]);
/**
 * Too few replicas or too much load. This proves that nothing was done only for a plain write of
 * one partition.
 */
const REPLICA_SHORTAGE_CODES: ReadonlySet<number> = new Set([0x1000, 0x1001]);

const PROTOCOL_ERROR = 0x000a;
const OVERLOADED = 0x1001;
const INVALID = 0x2200;
/** With these texts the protocol reports a missing table, keyspace or column. */
const MISSING = new RegExp(
  [
    'does not exist',
    "doesn't exist",
    'unconfigured table',
    'undefined column',
    'no keyspace has been specified',
    'no such',
  ].join('|'),
  'i',
);
const UNPREPARED = 0x2500;
/** The driver's text if a node lost its connection before a statement was sent. */
const NO_CONNECTION = 'No connection available';

/** The request that failed. `access` is `read` for an update that was not sent yet. */
interface FailedRequest {
  readonly access: Access;
  readonly name: string;
  readonly isSingleMutation?: boolean | undefined;
  readonly pageState?: string | undefined;
  readonly hint?: string | undefined;
}

/**
 * The fields of errors of the driver and the protocol client. Their classes are not used, because
 * packages may be installed twice.
 */
interface DriverFailure {
  readonly name: string;
  readonly message: string;
  readonly code?: unknown;
  readonly innerErrors?: Readonly<Record<string, unknown>> | null;
  readonly isSocketError?: boolean;
  readonly requestNotWritten?: boolean;
  /** The error code, if `correctables/research/cassandra-icg` reports the failure. */
  readonly correctableCode?: ErrorCode | undefined;
  /** The error reply of a node, if the same client reports it. */
  readonly server?: { readonly code: number; readonly message: string } | undefined;
}

/**
 * Returns the error to report. An update that may have been applied is `UNKNOWN`, never "not done".
 */
export function toCorrectableError(
  error: unknown,
  { access, name, isSingleMutation, pageState, hint }: FailedRequest,
): unknown {
  if (isCorrectableError(error) || !(error instanceof Error)) return error;
  const failure = getRootFailure(error as DriverFailure);
  if (access === 'write' && canHaveBeenApplied(error as DriverFailure, isSingleMutation === true)) {
    const message = `${name}: the write was sent and may have been made: ${failure.message}`;
    return new CorrectableError('UNKNOWN', message, { cause: error });
  }
  if (failure.code === PROTOCOL_ERROR && pageState !== undefined) {
    const message = `${name}: pageState: not one that this statement gave with these arguments`;
    return new CorrectableError('INVALID_ARGUMENT', message, {
      cause: error,
      field: 'args.pageState',
    });
  }
  const code =
    getErrorCode(failure) ??
    ((error as DriverFailure).innerErrors === undefined ? undefined : 'UNAVAILABLE');
  if (code === undefined) return error;
  const advice = isMissing(failure) && hint !== undefined ? `; ${hint}` : '';
  // A fault of the server: its caller, who may be a stranger, gets no names of tables. They are in
  // the cause.
  const reason = code === 'FINAL_FAILED' ? 'Cassandra refused the statement' : failure.message;
  return new CorrectableError(code, `${name}: ${reason}${advice}`, {
    cause: error,
    // A retry meets the same certificate.
    ...(isCertificateCode(failure.code) && { retryable: false }),
  });
}

/** Returns whether all nodes that replied do not know the statement. Then none has executed it. */
export function isUnprepared(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isHiddenStatement(error)) return true;
  const { innerErrors } = error as DriverFailure;
  const answers = Object.values(innerErrors ?? { error }).filter((item) => item instanceof Error);
  return answers.length > 0 && answers.every((item) => (item as DriverFailure).code === UNPREPARED);
}

/**
 * Returns whether the driver has looked for a prepared statement that the cluster hides from it,
 * because a node does not know the statement.
 */
function isHiddenStatement({ name, message }: DriverFailure): boolean {
  return name === 'DriverInternalError' && message.startsWith('Unprepared response invalid');
}

export function createClosedError(): CorrectableError {
  return new CorrectableError('UNAVAILABLE', 'the Cassandra binding is closed: make another', {
    retryable: false,
  });
}

/** Creates the error of an update that was in flight when the binding was closed. */
export function createAbandonedError(operation: string): CorrectableError {
  const message = `${operation}: the Cassandra binding was closed while the write was on its way: it may have been made`;
  return new CorrectableError('UNKNOWN', message);
}

/** Creates the error of an update whose reply does not fit the statement's `result`. */
export function createUnexpectedReplyError(operation: string, cause: unknown): CorrectableError {
  const message = `${operation}: the write was answered and may have been made, but its result does not fit: ${String(cause)}`;
  return new CorrectableError('UNKNOWN', message, { cause });
}

/**
 * Reports that an update was resent and failed each time. Any of the attempts may have been
 * applied.
 */
export class RetriesFailedError extends Error {
  override readonly name = 'RetriesFailedError';
  readonly innerErrors: Readonly<Record<string, Error>>;

  constructor(earlier: readonly Error[], last: Error) {
    super(last.message, { cause: last });
    this.innerErrors = {
      last,
      ...Object.fromEntries(earlier.map((error, n) => [`attempt ${n + 1}`, error])),
    };
  }
}

/** Reports that no contact point could be reached, with the error of each. */
export class NoNodeError extends Error {
  override readonly name = 'NoNodeError';
  readonly innerErrors: Readonly<Record<string, unknown>>;

  constructor(errors: ReadonlyMap<string, unknown>) {
    const [first] = errors.values();
    super('no contact point can be reached', { cause: first });
    this.innerErrors = Object.fromEntries(errors);
  }
}

/** Errors of TLS: a certificate is not accepted. */
const CERTIFICATE = /CERT|^ERR_(TLS|SSL)|^UNABLE_TO_(GET|VERIFY)|SELF_SIGNED|HOSTNAME_MISMATCH/;

/**
 * Returns whether the cluster refuses this process, or this process the cluster: wrong credentials,
 * a role that may not log in, a certificate that is not trusted. Only an operator can correct that.
 */
export function isAccessRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return listFailures(error as DriverFailure).some(isRefusal);
}

/** Returns why, in the words of the cluster or of TLS. */
export function describeRefusal(error: unknown): string {
  const failures = listFailures(error as DriverFailure);
  return (failures.find(isRefusal) ?? (error as Error)).message;
}

function isRefusal({ name, code }: DriverFailure): boolean {
  return name === 'AuthenticationError' || code === 0x0100 || isCertificateCode(code);
}

function isCertificateCode(code: unknown): boolean {
  return typeof code === 'string' && CERTIFICATE.test(code);
}

/**
 * If several nodes were tried, or one without an alternative, the most specific failure is a better
 * reason than "no host".
 */
function getRootFailure(failure: DriverFailure): DriverFailure {
  if (failure.server !== undefined) return { name: failure.name, ...failure.server };
  const failures = listFailures(failure);
  return (
    failures.find(({ name }) => name === 'ResponseError') ??
    failures.find(isRefusal) ??
    failures[0] ??
    failure
  );
}

/** Lists the failures of single attempts. */
function listFailures(failure: DriverFailure): DriverFailure[] {
  if (failure.innerErrors === undefined) return [failure];
  return Object.values(failure.innerErrors ?? {})
    .filter((item) => item instanceof Error)
    .flatMap((item) => listFailures(item as DriverFailure));
}

function isMissing({ code, message }: DriverFailure): boolean {
  return code === INVALID && MISSING.test(message);
}

/** The texts of guardrails and limits that refuse a request for its time only. */
const DISK_FULL = /^Guardrail \S*disk_usage/;
/** The node has refused the request before it executed any of it. */
const REQUEST_LIMIT = /^Request breached/;

/**
 * Returns whether a node has refused a request that it did not begin, for lack of disk, or for too
 * many requests.
 */
function isLimitReached({ code, message }: DriverFailure): boolean {
  return (
    (code === INVALID && DISK_FULL.test(message)) ||
    (code === OVERLOADED && REQUEST_LIMIT.test(message))
  );
}

function getErrorCode(failure: DriverFailure): ErrorCode | undefined {
  if (isMissing(failure)) return 'FINAL_FAILED';
  if (isLimitReached(failure)) return 'OVERLOADED';
  if (isHiddenStatement(failure)) return 'UNAVAILABLE';
  if (failure.message === NO_CONNECTION) return 'UNAVAILABLE';
  if (typeof failure.code === 'number')
    return (
      SERVER_ERROR_CODES[failure.code] ?? (failure.code === PROTOCOL_ERROR ? 'PROTOCOL' : undefined)
    );
  switch (failure.name) {
    case 'NoHostAvailableError':
      return 'UNAVAILABLE';
    case 'OperationTimedOutError':
      return 'TIMEOUT';
    case 'BusyConnectionError':
      return 'OVERLOADED';
    case 'AuthenticationError':
      return 'UNAUTHENTICATED';
    case 'CqlError':
      return failure.correctableCode;
    case 'ArgumentError':
    case 'TypeError': // a value that does not fit its column
    case 'RangeError':
      return 'INVALID_ARGUMENT';
    default:
      return failure.isSocketError === true || typeof failure.code === 'string'
        ? 'UNAVAILABLE'
        : undefined;
  }
}

/** Returns whether a replica may have executed a request that changes data. */
function canHaveBeenApplied(failure: DriverFailure, isOneMutation: boolean): boolean {
  if (failure.innerErrors !== undefined) {
    // Hosts that were down or busy before the request was written have a string or an error here.
    return Object.values(failure.innerErrors ?? {}).some(
      (item) => item instanceof Error && canHaveBeenApplied(item as DriverFailure, isOneMutation),
    );
  }
  if (typeof failure.code === 'number') {
    return !(
      isLimitReached(failure) ||
      REJECTION_CODES.has(failure.code) ||
      (isOneMutation && REPLICA_SHORTAGE_CODES.has(failure.code))
    );
  }
  if (failure.name === 'OperationTimedOutError') return true;
  return failure.isSocketError === true && failure.requestNotWritten !== true;
}
