/**
 * Who may see the figures of a server: operators, not every client. The figures show how much
 * others do, and clients are signed-in users of anybody.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { check } from '../../../correctable/errors.ts';

/** The token of operators, or a function that returns it, so that it can be replaced. */
export type OperatorToken = string | (() => string);

/** A shorter one can be guessed. */
const MIN_TOKEN_LENGTH = 16;
const RULE = `must be a string of at least ${MIN_TOKEN_LENGTH} characters, or a function that returns one`;

/** @throws CorrectableError `INVALID_ARGUMENT` if it is neither such a token nor left out */
export function checkOperatorToken(value: unknown): void {
  const isToken = value === undefined || typeof value === 'function' || isUsableToken(value);
  check(isToken, 'operatorToken', RULE);
}

function isUsableToken(value: unknown): value is string {
  return typeof value === 'string' && value.length >= MIN_TOKEN_LENGTH;
}

/**
 * Returns whether a request has the operator's token. Throws if a function returns no usable token,
 * or throws.
 */
export function hasOperatorToken({ headers }: IncomingMessage, token: OperatorToken): boolean {
  const expected = typeof token === 'function' ? token() : token;
  if (!isUsableToken(expected)) throw new Error(`operatorToken ${RULE}`);
  const sent = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
  return sent !== undefined && timingSafeEqual(hash(sent), hash(expected));
}

/** Texts of any length can be compared in constant time by their hashes. */
function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
