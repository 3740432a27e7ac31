/**
 * Fetches the state of a page from its server repeatedly, also while the server is down, because it
 * may be started again.
 */
import { byId, setText } from './dom.ts';

/** The pause between two attempts while the server does not answer. */
const RETRY_MS = 1000;

export interface FollowOptions<T> {
  readonly everyMs: number;
  readonly show: (state: T) => void;
  /** The text of the page while the server does not answer. */
  readonly failureText: string;
}

/** Shows each state in turn. Never ends. */
export async function followState<T>({
  everyMs,
  show,
  failureText,
}: FollowOptions<T>): Promise<never> {
  const failure = byId('failure', HTMLParagraphElement);
  for (;;) {
    const state = await fetchState<T>();
    failure.hidden = state !== undefined;
    setText(failure, state === undefined ? failureText : '');
    if (state !== undefined) show(state);
    await new Promise((resolve) => setTimeout(resolve, state === undefined ? RETRY_MS : everyMs));
  }
}

/** Returns undefined if the server does not answer, or answers with something else. */
async function fetchState<T>(): Promise<T | undefined> {
  try {
    const response = await fetch('state', { cache: 'no-store' });
    return (await response.json()) as T;
  } catch {
    return undefined;
  }
}
