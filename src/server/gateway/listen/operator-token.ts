/**
 * Decides who may see the metrics of a server: operators, not every client. The metrics show what
 * other clients do.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { matches, optional, type Option } from '../../../correctable/options.ts';
import type { Logger } from '../context/logger.ts';

/** The token of operators, or a function that returns it, so that it can be replaced. */
export type OperatorToken = string | (() => string);

/** A shorter token could be guessed. */
const MIN_TOKEN_LENGTH = 16;
/**
 * Matches tokens that a header can contain unchanged. Another token would never match the header of
 * a client.
 */
const SENDABLE = /^[!-~]([ -~]*[!-~])?$/;
const RULE =
  `must be a string of at least ${MIN_TOKEN_LENGTH} characters of ASCII, without a line break and ` +
  'without a space at an end, or a function that returns one';

export const operatorTokenOption: Option<never> = optional(
  matches((value) => typeof value === 'function' || isUsableToken(value), RULE),
);

function isUsableToken(value: unknown): value is string {
  return typeof value === 'string' && value.length >= MIN_TOKEN_LENGTH && SENDABLE.test(value);
}

/**
 * Wraps a token function so that a failure is logged, because operators then have no access. It
 * logs only once until there is a token again, because any client can cause calls.
 */
export function reportMissingToken(token: OperatorToken, logger: Logger): () => string {
  let isReported = false;
  return () => {
    try {
      const found = typeof token === 'function' ? token() : token;
      if (!isUsableToken(found)) throw new Error(`operatorToken ${RULE}`);
      isReported = false;
      return found;
    } catch (error) {
      if (!isReported) logger.error({ err: error }, 'the token of operators cannot be used');
      isReported = true;
      throw error;
    }
  };
}

/** Returns whether a request has the operator's token. Throws if no usable token is configured. */
export function hasOperatorToken({ headers }: IncomingMessage, getToken: () => string): boolean {
  const expected = getToken();
  const sent = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
  return sent !== undefined && timingSafeEqual(hash(sent), hash(expected));
}

/** Hashes make texts of any length comparable in constant time. */
function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
