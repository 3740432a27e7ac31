/** Signs the tokens of sessions, so that a client can carry them. */
import { optional, readOptions, anyValue, type OptionsOf } from '../../correctable/options.ts';
import { checkTokenKey, createSessionTokens } from '../shared/session-tokens.ts';
import type { CreateTokens } from './sessions/version-sessions.ts';

/** Options of `signedTokens`. */
export interface SignedTokensOptions {
  /**
   * Signs session tokens: a secret of 16 bytes or more, the same in all processes. Without it, a
   * session cannot go on in another process. Default: a random key
   */
  readonly tokenKey?: string | Uint8Array | undefined;
}

/**
 * Creates the tokens of `versionSessions`. With them, sessions of a tiered binding travel in a
 * cookie or a header.
 *
 * Tokens are readable: they have the latest keys of the session with their versions. They hold for
 * all tiered bindings with the same `name` and key.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the key is too short
 * @example
 * const sessions = versionSessions({ tokens: signedTokens({ tokenKey }) });
 * const pages = createClient(tiered(levels, tiers, { name: 'pages', sessions }));
 */
export function signedTokens(options: SignedTokensOptions = {}): CreateTokens {
  const { tokenKey } = readOptions(options, { call: CALL }, SIGNED_TOKENS_OPTIONS);
  checkTokenKey(tokenKey);
  return <T>(scope: readonly string[]) =>
    createSessionTokens<T>({
      caller: 'signedTokens',
      tokenKey,
      scope,
      site: 0,
    });
}

const CALL = "signedTokens({ tokenKey: 'a secret of all processes' })";

export const SIGNED_TOKENS_OPTIONS = {
  tokenKey: optional(anyValue),
} satisfies OptionsOf<SignedTokensOptions>;
