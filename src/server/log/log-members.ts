/** The sites of the red log change with its records. */
import type { Origins } from '../records/origin.ts';
import type { RedRecord } from '../records/records.ts';
import type { MemberChange } from './red-log.ts';

/** What a record does to them, as far as is known before it is delivered. */
export function findMemberChange(record: RedRecord, origins: Origins): MemberChange | undefined {
  if (record.kind !== 'member') return undefined;
  return { closes: record.action === 'change' ? origins.find(record.name) : undefined };
}
