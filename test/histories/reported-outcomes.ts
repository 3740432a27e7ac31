/**
 * What the outcome of a write implies, by the rule that every binding keeps (C14 in
 * `docs/spec/correctable.md`).
 */
import type { Call } from './history.ts';

/** `not made`: it is certain that nothing was done, nor ever will be. */
export type ReportedOutcome = 'made' | 'not made' | 'unknown';

const NOT_MADE: ReadonlySet<string> = new Set([
  'ABORTED',
  'CONFLICT',
  'FORBIDDEN',
  'INVALID_ARGUMENT',
  'INVALID_VALUE',
  'OVERLOADED',
  'REPLICA_BEHIND',
  'UNAUTHENTICATED',
  'UNAVAILABLE',
  'UNSUPPORTED',
]);

export function getReportedOutcome({
  outcome,
  isRetryable,
}: Pick<Call, 'outcome' | 'isRetryable'>): ReportedOutcome {
  if (outcome === undefined) return 'unknown';
  if (outcome === 'success') return 'made';
  return isRetryable === true || NOT_MADE.has(outcome) ? 'not made' : 'unknown';
}

/** How often each value of `of` occurs. */
export function countBy(
  calls: readonly Call[],
  of: (call: Call) => string,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const call of calls) counts[of(call)] = (counts[of(call)] ?? 0) + 1;
  return counts;
}
