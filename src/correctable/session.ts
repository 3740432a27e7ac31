/** A session as the application holds it: a key to what the binding keeps for it. */
import type { BindingSession } from './binding.ts';
import { invalidArgument } from './errors.ts';

/** Reads see the session's own writes, and never go back in time, across operations and servers. */
export interface Session extends Disposable {
  /**
   * What the session has seen, for `session({ tokens })` of a client at another site of the same deployment. Empty where
   * the binding's sessions cannot move.
   */
  readonly tokens: readonly string[];
  /** Releases the session; operations cannot be invoked in it any more. */
  close(): void;
}

/** How to open a session. */
export interface SessionOptions {
  /** The tokens of a session that is to be continued. Default: a session that has seen nothing yet. */
  readonly tokens?: readonly string[] | undefined;
}

export class BoundSession implements Session {
  /** The client that opened it. */
  readonly owner: object;
  #session: BindingSession | undefined;

  constructor(session: BindingSession, owner: object) {
    this.#session = session;
    this.owner = owner;
  }

  get tokens(): readonly string[] {
    return this.#session?.tokens ?? [];
  }

  /** The binding's part. Throws once the session is closed. */
  open(): BindingSession {
    if (this.#session !== undefined) return this.#session;
    throw invalidArgument('session', 'it is closed; open another');
  }

  close(): void {
    this.#session?.close?.();
    this.#session = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
