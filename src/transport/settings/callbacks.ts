/**
 * The application's functions as the transport calls them: what one throws, or gives that makes no sense, is reported as
 * an error that nobody caught, and the connection goes on as if it had done well.
 */
import { exponentialBackoff, type Backoff } from '../../correctable/backoff.ts';
import { defaultEnvironment } from '../../correctable/environment.ts';
import { CorrectableError, invalidArgument } from '../../correctable/errors.ts';
import { isThenable } from '../../correctable/given.ts';
import { TOKEN_LENGTH_MAX } from '../../protocol/rows/elements.ts';
import { isWellFormed } from '../../protocol/codec/value-domain.ts';

/** Reports an error that no caller waits for. */
export function reportUncaught(error: unknown): void {
  defaultEnvironment.uncaught(error);
}

/** A listener that neither throws nor, where it returns a promise, leaves a rejection behind. */
export function guardedListener<A extends readonly unknown[]>(listener: (...args: A) => unknown): (...args: A) => void {
  return (...args) => {
    try {
      const returned = listener(...args);
      if (isThenable(returned)) returned.then(undefined, reportUncaught);
    } catch (error) {
      reportUncaught(error);
    }
  };
}

/** A source of principals that gives a text, or throws why there is none. */
export function guardedPrincipal(principal: () => unknown): () => string {
  return () => {
    const given = principal();
    if (typeof given === 'string') return given;
    throw invalidArgument('principal', `must give a text, not ${typeof given}: '' where nobody is signed in`);
  };
}

/** Whom the client speaks for, where the application says, and the token that shows it. */
export interface Credentials {
  readonly principal: string | undefined;
  readonly token: string | undefined;
}

/** How often to ask for a token in a row, where each time another principal has come before the answer. */
const ASKS_MAX = 8;

/**
 * A source of tokens that always answers by a promise: of a text, of nothing, or of the reason why there is none. The
 * token is that of the principal beside it, who was there when it was asked for, and when it came.
 */
export function guardedToken(token: () => unknown, principal?: () => string): () => Promise<Credentials> {
  return async () => {
    for (let asks = 0; asks < ASKS_MAX; asks++) {
      const whose = principal?.();
      const given: unknown = await token();
      if (principal?.() === whose) return { principal: whose, token: checkedToken(given) };
    }
    throw new CorrectableError('UNAVAILABLE', `the principal has changed ${ASKS_MAX} times meanwhile`);
  };
}

function checkedToken(given: unknown): string | undefined {
  if (given === undefined) return given;
  const problem = problemOf(given);
  if (problem === undefined) return given as string;
  throw new CorrectableError('INVALID_ARGUMENT', problem, { field: 'token' });
}

function problemOf(token: unknown): string | undefined {
  if (typeof token !== 'string') return `must give a text, not ${typeof token}`;
  if (token.length > TOKEN_LENGTH_MAX) return `has ${token.length} characters, of ${TOKEN_LENGTH_MAX} at most`;
  return isWellFormed(token) ? undefined : 'has half of a surrogate pair: it was cut, or is no text';
}

/** A policy that always knows: where the one given does not, delays grow as they do by default. */
export function guardedReconnect(policy: Backoff, random: () => number): (attempt: number) => number | undefined {
  const fallback = exponentialBackoff();
  return (attempt) => {
    try {
      const delayMs: unknown = policy.delayMs(attempt, random);
      if (delayMs === undefined || (typeof delayMs === 'number' && delayMs >= 0)) return delayMs;
      const message = `reconnect.delayMs: must give milliseconds or undefined, not ${String(delayMs)}`;
      throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'reconnect' });
    } catch (error) {
      reportUncaught(error);
      return fallback.delayMs(attempt, Math.random);
    }
  };
}
