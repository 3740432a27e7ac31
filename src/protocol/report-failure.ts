/**
 * Reports failures to the log of a server. One failure may pass several places that report it: the
 * tier that throws it, and the reply that sends it.
 */
import {
  isCorrectableError,
  type CorrectableError,
  type ErrorCode,
} from '../correctable/errors.ts';

/** Refusals of a request. The caller gets the reason, and nothing is broken. */
const REFUSALS: readonly ErrorCode[] = [
  'INVALID_ARGUMENT',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'CONFLICT',
  'DOMAIN',
];

/**
 * The codes of errors of a store that does not answer. They are printed in one line without a
 * stack: each request fails with such an error, and the stack does not show its cause.
 */
const OUTAGES: readonly ErrorCode[] = [
  'UNAVAILABLE',
  'OVERLOADED',
  'TIMEOUT',
  'ABORTED',
  'REPLICA_BEHIND',
  'UNKNOWN',
];

/** A longer chain of causes probably contains itself. */
const MAX_CAUSES = 16;

const reportedErrors = new WeakSet<object>();

/**
 * Returns whether the error only refuses a request, so that there is nothing to fix at the server.
 */
export function isRefusal(error: unknown): boolean {
  return isCorrectableError(error) && REFUSALS.includes(error.code);
}

/** Returns whether the error means that the store did not answer. */
export function isOutage(error: unknown): error is CorrectableError {
  return isCorrectableError(error) && OUTAGES.includes(error.code);
}

/**
 * Passes a failure to `handle`, the handler of the application. Without one, it is printed with
 * `console.error`. Never throws.
 */
export function reportFailure(
  error: unknown,
  description: string,
  handle: (() => unknown) | undefined,
): void {
  if (handle) runHandler(handle);
  else if (isOutage(error)) print(`${description}: ${describeOutage(error)}`);
  else print(`${description}:`, error);
}

/** Notes that the failure was reported where it happened. */
export function markReported(error: unknown): void {
  if (isObject(error)) reportedErrors.add(error);
}

/**
 * Returns whether the failure was reported where it happened. The client wraps it, so its causes
 * count too.
 */
export function wasReported(error: unknown): boolean {
  let inner: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES && isObject(inner); depth += 1) {
    if (reportedErrors.has(inner)) return true;
    inner = (inner as { readonly cause?: unknown }).cause;
  }
  return false;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The handler is code of the application. If it fails, the operation goes on. */
function runHandler(handle: () => unknown): void {
  const printFailure = (failure: unknown): void => print('onError failed:', failure);
  try {
    Promise.resolve(handle()).catch(printFailure);
  } catch (failure) {
    printFailure(failure);
  }
}

/** Returns the message of the error, and the message of its innermost cause. */
function describeOutage(error: CorrectableError): string {
  const { code, message } = error;
  let inner: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    const { cause, errors } = Object(inner) as Partial<AggregateError>;
    // A failed connection has an error for each address of the host.
    const next: unknown = cause ?? errors?.at(-1);
    if (!isObject(next)) break;
    inner = next;
  }
  const { message: text = '' } = inner as Partial<Error>;
  const isNamed = message.includes(text);
  return `${code}: ${message}${isNamed ? '' : ` Cause: ${text}`}`;
}

function print(...parts: readonly unknown[]): void {
  // oxlint-disable-next-line no-console -- the log of an application that has set none
  console.error(...parts);
}
