/** Two runs of one seed go the same way, unless the service knows something that its tables do not hold. */
import { shown } from '../server/label/values/shown.ts';
import { BELONGS } from './simulator/checkers/oracle.ts';
import type { ClientOperation } from './simulator/history.ts';
import { isSameSent } from './simulator/oracle/sent.ts';

/**
 * The first call that was answered otherwise the second time, in words; none where all went the same way, or where other
 * operations were drawn, which says nothing.
 */
export function unlike(first: readonly ClientOperation[], again: readonly ClientOperation[]): string | undefined {
  // By the order in which they were asked for: what differs later can come of what differed before.
  for (const [index, before] of first.entries()) {
    const after = again[index];
    if (after === undefined || !isSameSent(drawnOf(before), drawnOf(after))) return undefined;
    if (isSameSent(endOf(before), endOf(after))) continue;
    const [one, other] = [told(before), told(after)];
    const call = `${before.operation}(${shown(before.args)})`;
    return `${call} was ${one}, and ${one === other ? 'later' : other} when the same run was repeated: ${BELONGS}`;
  }
  return undefined;
}

function drawnOf({ id, operation, args, level, submittedAtMs }: ClientOperation): unknown {
  return { id, operation, args, level, submittedAtMs };
}

function endOf({ answers, failures, shownAs, isChange, error }: ClientOperation): unknown {
  return { answers, failures, shownAs, isChange, error };
}

function told({ answers: [first], failures, shownAs, error }: ClientOperation): string {
  if (first !== undefined) return `answered ${shown(first.value)} (${shownAs ?? first.stage})`;
  return `told ${error ?? failures.at(-1) ?? 'nothing'}`;
}
