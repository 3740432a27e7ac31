/** A session as the application holds it: a key to what the binding keeps for it. */
import type { BindingSession } from './binding.ts';

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

/** The application's key to `opened`, one of the `sessions` of a client until it is closed. */
export function bindSession(opened: BindingSession, sessions: WeakMap<Session, BindingSession>): Session {
  const close = (): void => {
    if (sessions.delete(session)) opened.close?.();
  };
  const session: Session = {
    get tokens() {
      return (sessions.has(session) && opened.tokens) || [];
    },
    close,
    [Symbol.dispose]: close,
  };
  sessions.set(session, opened);
  return session;
}
