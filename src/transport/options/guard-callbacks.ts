/**
 * Calls the application's functions. A failure or an invalid result is reported as uncaught, and
 * has no other effect.
 */
import { exponentialBackoff, type Backoff } from '../../correctable/backoff.ts';
import { defaultEnvironment } from '../../correctable/environment.ts';
import { CorrectableError, createInvalidArgumentError } from '../../correctable/errors.ts';
import { isThenable } from '../../correctable/validate.ts';
import { MAX_TOKEN_LENGTH } from '../../protocol/messages/field-schemas.ts';
import { isWellFormed } from '../../protocol/codec/tagged-values.ts';

/** Reports an error that no caller waits for. */
export function reportUncaught(error: unknown): void {
  defaultEnvironment.reportUncaught(error);
}

/** Returns a listener that never throws. If it returns a promise, a rejection of it is reported. */
export function guardListener<A extends readonly unknown[]>(
  listener: (...args: A) => unknown = () => {},
): (...args: A) => void {
  return (...args) => {
    try {
      const returned = listener(...args);
      if (isThenable(returned)) returned.then(undefined, reportUncaught);
    } catch (error) {
      reportUncaught(error);
    }
  };
}

/** Returns a source of principals that returns a string, or throws the reason why there is none. */
export function guardPrincipal(principal: () => unknown): () => string {
  return () => {
    const value = principal();
    if (typeof value === 'string') return value;
    const advice = `must return a string, got ${typeof value}: return '' if no user is signed in`;
    throw createInvalidArgumentError('principal', advice);
  };
}

/** The token, and the principal that the client acts for if the application names one. */
export interface Credentials {
  readonly principal: string | undefined;
  readonly token: string | undefined;
}

/**
 * The maximum number of token requests in succession. A request is repeated if the principal has
 * changed before the token arrived.
 */
const MAX_TOKEN_REQUESTS = 8;

/**
 * Returns a function that always returns a promise of the token and its principal. The principal
 * was signed in both at the request and at the reply.
 */
export function guardToken(
  token: () => unknown,
  principal?: () => string,
): () => Promise<Credentials> {
  return async () => {
    for (let asks = 0; asks < MAX_TOKEN_REQUESTS; asks++) {
      const whose = principal?.();
      const value: unknown = await token();
      if (principal?.() === whose) return { principal: whose, token: checkToken(value) };
    }
    throw new CorrectableError(
      'UNAVAILABLE',
      `the principal has changed ${MAX_TOKEN_REQUESTS} times meanwhile`,
    );
  };
}

function checkToken(value: unknown): string | undefined {
  if (value === undefined) return value;
  const problem = findTokenProblem(value);
  if (problem === undefined) return value as string;
  throw new CorrectableError('INVALID_ARGUMENT', problem, { field: 'token' });
}

function findTokenProblem(token: unknown): string | undefined {
  if (typeof token !== 'string') return `must give a text, not ${typeof token}`;
  if (token.length > MAX_TOKEN_LENGTH)
    return `has ${token.length} characters, of ${MAX_TOKEN_LENGTH} at most`;
  return isWellFormed(token)
    ? undefined
    : 'has half of a surrogate pair: it was cut, or is no text';
}

/**
 * Returns a policy that always has a delay. If the policy of the application fails, the delays of
 * the default policy are used.
 */
export function guardReconnect(
  policy: Backoff,
  random: () => number,
): (attempt: number) => number | undefined {
  const fallback = exponentialBackoff();
  return (attempt) => {
    try {
      const delayMs: unknown = policy.delayMs(attempt, random);
      if (delayMs === undefined || (typeof delayMs === 'number' && delayMs >= 0)) return delayMs;
      const advice = `must give milliseconds or undefined, not ${String(delayMs)}`;
      throw createInvalidArgumentError('reconnect.delayMs', advice);
    } catch (error) {
      reportUncaught(error);
      return fallback.delayMs(attempt, Math.random);
    }
  };
}
