/**
 * What the records of globals wait for at the gate of their log, beside the snapshot of an
 * operation.
 */
import type { CertificationDecision } from '../../../service/records/certification-result.ts';
import { isGlobal } from '../global-records.ts';
import type { HoldStamp, RedRecord } from '../../../service/records/records.ts';

const NOTHING: readonly HoldStamp[] = [];

/**
 * Returns the stamps of other partitions that must be applied first. A global follows its holds, so
 * that all sites apply the writers of a row in one order. The end of a hold follows the global,
 * because a snapshot with the end counts as one with all that was written by then.
 */
export function findAwaitedStamps(
  record: RedRecord,
  decision: CertificationDecision,
): readonly HoldStamp[] {
  if (decision.kind === 'commit' && record.kind === 'operation')
    return (isGlobal(record) ? record.holds : undefined) ?? NOTHING;
  if (decision.kind === 'release' && record.kind === 'release')
    return record.stamp === undefined ? NOTHING : [[record.home, record.stamp]];
  return NOTHING;
}
