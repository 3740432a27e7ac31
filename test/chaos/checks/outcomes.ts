/** Whether each call was answered, with an outcome that users can be shown while sites fail. */
import { nameOf } from '../../histories/checks/calls.ts';
import type { Evidence } from '../evidence.ts';

const OUTCOMES: ReadonlySet<string> = new Set([
  'success',
  'CONFLICT',
  'OVERLOADED',
  'REPLICA_BEHIND',
  'SESSION_BEHIND',
  'SESSION_LOST',
  'TIMEOUT',
  'UNAVAILABLE',
  'UNKNOWN',
]);

export function outcomeFaults({ calls, missed }: Evidence): string[] {
  const faults = calls.flatMap((call) => {
    const { outcome } = call;
    if (outcome === undefined) return [`${nameOf(call)} was never answered`];
    return OUTCOMES.has(outcome) ? [] : [`${nameOf(call)} ended with ${outcome}`];
  });
  return [...missed, ...faults];
}
