/** What a cache tells the others on its store after each transaction. */
import { isRecord } from '../../correctable/given.ts';
import type { Change } from './fences.ts';

export interface Notice {
  /** The number of the transaction. */
  readonly seq: number;
  readonly changes: readonly Change[];
}

/** Whether what was heard is one. */
export function isNotice(heard: unknown): heard is Notice {
  if (!isRecord(heard)) return false;
  const { seq, changes } = heard;
  return typeof seq === 'number' && Array.isArray(changes) && changes.every(isChange);
}

function isChange(change: unknown): change is Change {
  if (!isRecord(change)) return false;
  const { kind, scope, principal } = change;
  if (principal !== undefined && typeof principal !== 'string') return false;
  return (kind === 'update' || kind === 'drop') && (scope === undefined || Array.isArray(scope));
}
