/** Does one operation of a client and records how it went. */
import {
  isCorrectableError,
  type AnyClient,
  type Operation,
  type Session,
} from '../../src/index.ts';
import type { Call, History, ReportedView } from './history.ts';

/** Far longer than any fault lasts: what is not answered by then would never be. */
export const CALL_MS = 45_000;

export interface Step {
  readonly session: string;
  readonly kind: string;
  readonly key: string;
  readonly input?: unknown;
  readonly operation: Operation<unknown>;
  /** Which views to ask for: both unless given. */
  readonly how?: 'invoke' | 'invokeWeak' | 'invokeStrong';
  /** The session that it is made in: none unless given. */
  readonly within?: Session;
}

/**
 * Resolves, with the call, when it has ended. It is sent, and in the history, when this returns.
 */
export async function observe(history: History, client: AnyClient, step: Step): Promise<Call> {
  const { operation, how = 'invoke', within, ...what } = step;
  const levels =
    how === 'invoke' ? {} : { levels: [client.levels.at(how === 'invokeWeak' ? 0 : -1) ?? ''] };
  const views: ReportedView[] = [];
  const call = history.record({ ...what, ...levels, beginMs: performance.now(), views });
  try {
    for await (const { level, value, meta } of client[how](operation, {
      timeoutMs: CALL_MS,
      session: within,
    })) {
      views.push({ level, value, atMs: performance.now(), meta });
    }
    call.outcome = 'success';
    call.output = views.at(-1)?.value;
  } catch (error) {
    call.outcome = isCorrectableError(error) ? error.code : `not translated: ${String(error)}`;
    if (isCorrectableError(error)) call.isRetryable = error.retryable;
  }
  call.endMs = performance.now();
  history.ended(call);
  return call;
}
