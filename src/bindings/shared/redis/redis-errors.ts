/** The meaning of errors of Redis and Valkey, by the first word of a reply. */
import { getErrorMessage } from '../../../values/error-message.ts';

/** The codes of refusals, which prove that nothing was done. */
export type RefusedCode = 'UNAUTHENTICATED' | 'FORBIDDEN' | 'OVERLOADED' | 'UNAVAILABLE';

/** There is no connection to a server, so nothing was sent to it. */
export class NoConnectionError extends Error {
  override readonly name = 'NoConnectionError';

  constructor(address: string, cause: unknown) {
    super(`no connection to ${address}: ${describeError(cause)}`, { cause });
  }
}

/** A connection was abandoned while a command waited for its reply. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
}

const CODES: Readonly<Record<string, RefusedCode>> = {
  NOAUTH: 'UNAUTHENTICATED',
  WRONGPASS: 'UNAUTHENTICATED',
  NOPERM: 'FORBIDDEN',
  OOM: 'OVERLOADED',
};

const TOO_MANY_CLIENTS = /max number of clients/;

/**
 * Errors with which a server refuses a command before it executes any of it. They prove that
 * nothing was written, unless the command was sent twice.
 */
const NOT_EXECUTED =
  /^(READONLY|NOREPLICAS|MISCONF|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|BUSY|NOAUTH|WRONGPASS|NOPERM(?!.*script)|ERR max number of clients)\b/;

/** The server is no master, or has lost its part of a cluster. */
const WRONG_SERVER = /^(READONLY|MASTERDOWN|CLUSTERDOWN|MOVED)\b/;

/** Errors of TLS: the certificate of the server is not accepted. */
const CERTIFICATE = /CERT|^ERR_(TLS|SSL)|^UNABLE_TO_(GET|VERIFY)|SELF_SIGNED|EPROTO/;

/** Returns the innermost error that a missing connection has for a cause. */
export function findRootError(error: unknown): unknown {
  return error instanceof NoConnectionError ? findRootError(error.cause) : error;
}

/** Returns the message, without a full stop at its end. */
export function describeError(error: unknown): string {
  const text = getErrorMessage(error);
  return text.replace(/\.$/, '');
}

/** Returns whether the server itself has replied with the error. */
export function isServerReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

export function isNotExecuted(error: unknown): boolean {
  if (error instanceof NoConnectionError) return true;
  return isServerReply(error) && NOT_EXECUTED.test(error.message);
}

const REFUSED =
  /^(OOM|WRONGTYPE|EXECABORT|ERR (invalid|syntax|unknown command|wrong number|value is|string exceeds))/;

/**
 * Returns whether a server has refused a single command, which then has changed nothing. Other
 * errors, such as those of a proxy, prove nothing.
 */
export function isCommandRefused(error: unknown): error is Error {
  return isNotExecuted(error) || (isServerReply(error) && REFUSED.test(error.message));
}

/** Returns whether another server has to be looked for. */
export function isWrongServer(error: unknown): boolean {
  return isServerReply(error) && WRONG_SERVER.test(error.message);
}

/** Returns the code of an error that proves that nothing was done. */
export function getErrorCode(error: unknown): RefusedCode {
  const root = describeError(findRootError(error));
  if (TOO_MANY_CLIENTS.test(root)) return 'OVERLOADED';
  return CODES[root.split(' ', 1)[0] as string] ?? 'UNAVAILABLE';
}

/** Returns whether the certificate of the server is not trusted. */
export function isCertificateError(error: unknown): boolean {
  const { code } = Object(findRootError(error)) as { readonly code?: unknown };
  return typeof code === 'string' && CERTIFICATE.test(code);
}

/** Returns the code of a cause that does not pass by itself. */
export function findRefusalCode(error: unknown): RefusedCode | undefined {
  const code = getErrorCode(error);
  return code === 'UNAVAILABLE' && !isCertificateError(error) ? undefined : code;
}

/**
 * Returns whether the server refuses this process, or this process the server: a wrong password, a
 * missing right, an untrusted certificate. Only an operator can correct that.
 */
export function isAccessError(error: unknown): boolean {
  const text = describeError(findRootError(error));
  return isCertificateError(error) || /^(NOAUTH|WRONGPASS|NOPERM)\b/.test(text);
}
