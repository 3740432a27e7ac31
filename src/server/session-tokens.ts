/** Session tokens: what a session has seen, signed by the cluster, so that a client can carry it and cannot make it up. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { CorrectableError } from '../correctable/errors.ts';
import type { SessionTokens } from './redblue/site-binding.ts';
import type { Vector } from './redblue/vector.ts';

/** What tokens of one site are made with. */
export interface SignedTokensOptions {
  /** The same at all sites. */
  readonly key: string | Uint8Array;
  readonly sites: readonly string[];
  /** Index of the site that makes them: a client keeps only the newest of each. */
  readonly site: number;
}

/** Longest token that is looked at. */
const LENGTH_MAX = 4096;

/** Tokens `site.payload.signature`. The signature covers the names of all sites: another deployment's do not fit. */
export class SignedTokens implements SessionTokens {
  readonly #options: SignedTokensOptions;

  constructor(options: SignedTokensOptions) {
    this.#options = options;
  }

  seal(vector: Vector): string {
    const content = `${this.#options.site}.${Buffer.from(JSON.stringify(vector)).toString('base64url')}`;
    return `${content}.${this.#sign(content).toString('base64url')}`;
  }

  open(token: string): Vector {
    const text = typeof token === 'string' && token.length <= LENGTH_MAX ? token : '';
    const end = text.lastIndexOf('.');
    const content = text.slice(0, Math.max(0, end));
    const given = Buffer.from(text.slice(end + 1), 'base64url');
    const expected = this.#sign(content);
    if (given.length === expected.length && timingSafeEqual(given, expected)) {
      return JSON.parse(Buffer.from(content.slice(content.indexOf('.') + 1), 'base64url').toString()) as Vector;
    }
    const message =
      'session: the token was not made by this deployment, or was changed on the way. Open a new session.';
    throw new CorrectableError('UNAUTHENTICATED', message, { field: 'session' });
  }

  #sign(content: string): Buffer {
    const { key, sites } = this.#options;
    return createHmac('sha256', key)
      .update(JSON.stringify(['correctables session v1', sites, content]))
      .digest();
  }
}
