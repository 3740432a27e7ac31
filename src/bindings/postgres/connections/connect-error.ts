/** Errors of connections that could not be made, with the reason of the server. */
import { CorrectableError, type ErrorCode } from '../../../correctable/errors.ts';
import { findSqlState } from '../sql-state.ts';

/** By SQLSTATE, or its class. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  '28': 'UNAUTHENTICATED', // a wrong password, a role that may not log in
  '3D': 'FINAL_FAILED', // no such database
  '42': 'FORBIDDEN', // no right to connect to the database
  '53': 'OVERLOADED', // too many clients
};

const ADVICE: Partial<Readonly<Record<ErrorCode, string>>> = {
  UNAUTHENTICATED: 'Check its user and password.',
  FORBIDDEN: 'Check the rights of its user.',
  FINAL_FAILED: 'Check the name of its database.',
};

/** Codes of Node and OpenSSL for a certificate or a handshake. */
const TLS = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO|HOSTNAME_)/;
const NO_TLS = /does not support SSL/;
/** The driver refuses a password before it sends it. */
const NO_PASSWORD = /^SASL|[Pp]assword must be/;

const refusals = new WeakSet<CorrectableError>();

/** @param name the option that has the address, such as `primary` */
export function createConnectError(name: string, cause: unknown): CorrectableError {
  const sqlState = findSqlState(cause) ?? '';
  const text = describeCause(cause);
  const code = CODES[sqlState.slice(0, 2)];
  if (code !== undefined) return refuse(name, { code, text, cause });
  if (NO_PASSWORD.test(text)) return refuse(name, { code: 'UNAUTHENTICATED', text, cause });
  if (isTlsError(cause)) {
    const message = `postgres: ${name}: no trusted connection: ${text}. Nothing was sent. Check its option ssl and the certificate of the server.`;
    const details = { cause, retryable: false };
    return mark(new CorrectableError('UNAVAILABLE', message, details));
  }
  const message = `postgres: ${name}: no connection: ${text}. Nothing was sent.`;
  return mark(new CorrectableError('UNAVAILABLE', message, { cause }));
}

/** All connections are in use, and the server works as far as is known. */
export function createFullPoolError(name: string, max: number, cause: unknown): CorrectableError {
  const message = `postgres: ${name}: no connection: all ${max} connections are in use. Nothing was sent.`;
  return mark(new CorrectableError('OVERLOADED', message, { cause }));
}

/** Returns whether no connection could be made: all operations fail so. */
export function isConnectError(error: unknown): boolean {
  return error instanceof CorrectableError && refusals.has(error);
}

/**
 * Returns whether the server refuses this process, or this process the server: a wrong password, a
 * missing right, an untrusted certificate. Only an operator can correct that.
 */
export function isAccessError({ code, cause }: CorrectableError): boolean {
  return /^(UNAUTHENTICATED|FORBIDDEN)$/.test(code) || isTlsError(cause);
}

function isTlsError(cause: unknown): boolean {
  const { code } = Object(cause) as { readonly code?: unknown };
  return TLS.test(String(code)) || NO_TLS.test(describeCause(cause));
}

function refuse(
  name: string,
  {
    code,
    text,
    cause,
  }: {
    readonly code: ErrorCode;
    readonly text: string;
    readonly cause: unknown;
  },
): CorrectableError {
  const advice = ADVICE[code] === undefined ? '' : ` ${ADVICE[code]}`;
  const message = `postgres: ${name}: the server refuses the connection: ${text}. Nothing was sent.${advice}`;
  return mark(new CorrectableError(code, message, { cause }));
}

function mark(error: CorrectableError): CorrectableError {
  refusals.add(error);
  return error;
}

/** A host with several addresses fails with an error without a message. */
export function describeCause(cause: unknown): string {
  const { message, code } = Object(cause) as {
    readonly message?: string;
    readonly code?: string;
  };
  return message || code || String(cause);
}
