/** Session tokens of a binding whose `tokenKey` is an option. */
import { randomBytes } from 'node:crypto';
import { check, CorrectableError } from '../../correctable/errors.ts';
import { SignedTokens, type SignedTokensOptions } from './signed-tokens.ts';

/**
 * The key that is used without the option `tokenKey`. Tokens signed with it are valid only in this
 * process.
 *
 * Created at first use: Cloudflare Workers allow no randomness while a module is loaded.
 */
let processKey: Uint8Array | undefined;

const MIN_TOKEN_KEY_BYTES = 16;

export interface SessionTokensOptions extends Omit<SignedTokensOptions, 'key'> {
  /** The name of the function that has the option `tokenKey`, for error messages. */
  readonly caller: string;
  readonly tokenKey: string | Uint8Array | undefined;
}

/** The tokens of a binding's sessions. */
export interface SessionTokens<T> {
  seal(state: T): string;
  /** @throws CorrectableError `UNAUTHENTICATED` for a token that was signed with another key */
  open(token: string): T;
}

export function createSessionTokens<T>({
  caller,
  tokenKey,
  ...options
}: SessionTokensOptions): SessionTokens<T> {
  const signed = new SignedTokens<T>({
    ...options,
    key: tokenKey ?? (processKey ??= randomBytes(32)),
  });
  return {
    seal: (state) => signed.seal(state),
    open(token) {
      try {
        return signed.open(token);
      } catch (error) {
        throw tokenKey === undefined ? createKeyError(caller, error) : error;
      }
    },
  };
}

function createKeyError(caller: string, cause: unknown): CorrectableError {
  const message = `session: the token was not made by this process. Pass the same tokenKey to ${caller} in all processes, or open a new session.`;
  return new CorrectableError('UNAUTHENTICATED', message, {
    field: 'session',
    cause,
  });
}

/** @throws CorrectableError `INVALID_ARGUMENT` for a key that is too short */
export function checkTokenKey(key: string | Uint8Array | undefined): void {
  const isKey =
    key === undefined ||
    ((typeof key === 'string' || key instanceof Uint8Array) &&
      Buffer.byteLength(key) >= MIN_TOKEN_KEY_BYTES);
  check(
    isKey,
    'tokenKey',
    `must be a secret of ${MIN_TOKEN_KEY_BYTES} bytes or more, the same in all processes.`,
  );
}
