/**
 * Session tokens: the state that a session has seen, signed by the deployment, so that a client can
 * carry it but not forge it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { CorrectableError } from '../../correctable/errors.ts';

/** One stamp for each site. */
type Vector = readonly number[];

export interface SignedTokensOptions {
  /** The signing key, the same at all sites. */
  readonly key: string | Uint8Array;
  /**
   * Identifies the deployment, the same at all its sites and starts. It is the name of the
   * deployment, or its sites if these never change.
   */
  readonly scope: string | readonly string[];
  /** The site that creates the tokens. A client keeps only the newest token of each site. */
  readonly site: number;
}

/** Signed together with the content. */
const SIGNED_PREFIX = 'correctables session v1';

/** Maximum length of a token. A longer one is rejected. */
const MAX_TOKEN_LENGTH = 4096;
/**
 * Maximum number of verified tokens that are remembered. A token that returns soon need not be
 * verified again.
 */
const MAX_VERIFIED_TOKENS = 1024;

/** Returns the text before the first dot of a token, which names the site that made it. */
const formatMaker = (site: number): string => `o${site}`;

/**
 * Tokens of the form `site.payload.signature`. The signature covers the scope, so tokens of another
 * deployment are rejected.
 *
 * `T` is the state that they carry, as JSON.
 */
export class SignedTokens<T = Vector> {
  readonly #options: SignedTokensOptions;
  /** The content of the known tokens, in the order in which they became known. */
  readonly #verifiedTokens = new Map<string, T>();

  constructor(options: SignedTokensOptions) {
    this.#options = options;
  }

  seal(state: T): string {
    const content = `${formatMaker(this.#options.site)}.${Buffer.from(JSON.stringify(state)).toString('base64url')}`;
    const token = `${content}.${this.#sign(content).toString('base64url')}`;
    // Keep a copy, because the state of a session changes.
    this.#cacheVerified(token, structuredClone(state));
    return token;
  }

  open(token: string): T {
    const known = this.#verifiedTokens.get(token);
    if (known !== undefined) return known;
    const state = this.#verify(token);
    this.#cacheVerified(token, state);
    return state;
  }

  #cacheVerified(token: string, state: T): void {
    this.#verifiedTokens.set(token, state);
    if (this.#verifiedTokens.size <= MAX_VERIFIED_TOKENS) return;
    const [oldest] = this.#verifiedTokens.keys();
    if (oldest !== undefined) this.#verifiedTokens.delete(oldest);
  }

  #verify(token: string): T {
    const text = typeof token === 'string' && token.length <= MAX_TOKEN_LENGTH ? token : '';
    const end = text.lastIndexOf('.');
    const content = text.slice(0, Math.max(0, end));
    const value = Buffer.from(text.slice(end + 1), 'base64url');
    const expected = this.#sign(content);
    if (value.length === expected.length && timingSafeEqual(value, expected)) {
      return JSON.parse(
        Buffer.from(content.slice(content.indexOf('.') + 1), 'base64url').toString(),
      ) as T;
    }
    const message =
      'session: the token was not made by this deployment, or was changed on the way. Open a new session.';
    throw new CorrectableError('UNAUTHENTICATED', message, {
      field: 'session',
    });
  }

  #sign(content: string): Buffer {
    const { key, scope } = this.#options;
    return createHmac('sha256', key)
      .update(JSON.stringify([SIGNED_PREFIX, scope, content]))
      .digest();
  }
}
