/** A session over the wire: the tokens that servers gave it, sent along with what is submitted in it. */
import type { BindingSession } from '../../correctable/binding.ts';

/** Tokens in one submission at most: one a site. */
const TOKENS_MAX = 64;

/** Keeps the newest token of each server, by what stands before its first dot; what follows is for servers to read. */
export class WireSession implements BindingSession {
  /** The id of the client that opened it: with another principal it takes another, and the session has ended. */
  readonly client: string | undefined;
  readonly #tokens = new Map<string, string>();

  constructor(tokens: readonly string[] = [], client?: string) {
    this.client = client;
    for (const token of tokens) this.learn(token);
  }

  get tokens(): readonly string[] {
    return [...this.#tokens.values()];
  }

  /** Takes the token that came with a view: it contains all that was sent with the submission. */
  learn(token: string): void {
    this.#tokens.set(token.slice(0, Math.max(0, token.indexOf('.'))), token);
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size > TOKENS_MAX && oldest !== undefined) this.#tokens.delete(oldest);
  }
}
