/** The duty of a failure that nobody observes: one unhandled rejection, decided a macrotask after closing (C5). */
import type { CorrectableError } from './errors.ts';

interface Failed {
  readonly observed: boolean;
  readonly error: CorrectableError | undefined;
}

let waiting: Failed[] | undefined;

export function reportIfUnobserved(failed: Failed): void {
  if (waiting === undefined) {
    waiting = [];
    setTimeout(decide, 0);
  }
  waiting.push(failed);
}

function decide(): void {
  const failures = waiting ?? [];
  waiting = undefined;
  for (const { observed, error } of failures) if (!observed) void Promise.reject(error);
}
