/** What holds of every call, whatever it was for. */
import type { Call } from '../history.ts';

/**
 * Calls without an outcome, or with an error code that no binding may use, long after all was
 * healed.
 */
export function callFaults(calls: readonly Call[]): string[] {
  return calls.flatMap((call) => {
    const { outcome } = call;
    const description = nameOf(call);
    if (outcome === undefined) return [`${description} was never answered`];
    if (outcome === 'TIMEOUT') return [`${description} was not answered in time`];
    return outcome.startsWith('not translated') ? [`${description}: ${outcome}`] : [];
  });
}

/** Which call it was, for a person. */
export function nameOf({ session, kind, key, beginMs }: Call): string {
  return `${key}: ${kind} of ${session} at ${Math.round(beginMs)} ms`;
}

/** Where nothing succeeds nothing can be wrong, and nothing has been shown. */
export function nothingDone(calls: readonly Call[]): string[] {
  if (calls.length === 0 || calls.some(({ outcome }) => outcome === 'success')) return [];
  return [
    `none of ${calls.length} calls has succeeded: the first ended with ${calls[0]?.outcome ?? 'nothing'}`,
  ];
}
