/**
 * The application's functions as the transport calls them: what one throws, or gives that makes no sense, is reported as
 * an error that nobody caught, and the connection goes on as if it had done well.
 */
import { exponentialBackoff, type Backoff } from '../correctable/backoff.ts';
import { defaultEnvironment } from '../correctable/environment.ts';
import { CorrectableError } from '../correctable/errors.ts';
import { isThenable } from '../correctable/given.ts';
import { TOKEN_LENGTH_MAX } from '../protocol/message-kind.ts';
import { isWellFormed } from '../protocol/value-domain.ts';

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

/** A source of tokens that always answers by a promise: of a text, of nothing, or of the reason why there is none. */
export function guardedToken(token: () => unknown): () => Promise<string | undefined> {
  return async () => {
    const given: unknown = await token();
    if (given === undefined) return given;
    const problem = problemOf(given);
    if (problem === undefined) return given as string;
    throw new CorrectableError('INVALID_ARGUMENT', problem, { field: 'token' });
  };
}

function problemOf(token: unknown): string | undefined {
  if (typeof token !== 'string') return `must give a text, not ${typeof token}`;
  if (token.length > TOKEN_LENGTH_MAX) return `has ${token.length} characters, of ${TOKEN_LENGTH_MAX} at most`;
  return isWellFormed(token) ? undefined : 'has half of a surrogate pair: it was cut, or is no text';
}

/** A policy that always knows: where the one given does not, delays grow as they do by default. */
export function guardedReconnect(policy: Backoff, random: () => number): (attempt: number) => number | undefined {
  const fallback = exponentialBackoff();
  const guardedRandom = (): number => {
    try {
      return random();
    } catch (error) {
      reportUncaught(error);
      return Math.random();
    }
  };
  return (attempt) => {
    try {
      const delayMs: unknown = policy.delayMs(attempt, guardedRandom);
      if (delayMs === undefined || (typeof delayMs === 'number' && delayMs >= 0)) return delayMs;
      const message = `reconnect.delayMs: must give milliseconds or undefined, not ${String(delayMs)}`;
      throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'reconnect' });
    } catch (error) {
      reportUncaught(error);
      return fallback.delayMs(attempt, Math.random);
    }
  };
}
