/** The sites of the red log, as the table of origins has them. */
import type { Origin, Origins } from '../records/origin.ts';
import type { RedRecord } from '../records/records.ts';
import type { LogMembers, MemberChange } from './red-log.ts';

/** Those that are sent the log, and those that count for a majority. */
export function getLogMembers(origins: Origins, leftBehind: ReadonlySet<Origin>): LogMembers {
  return {
    sites: origins.members.filter((site) => !leftBehind.has(site)),
    voters: origins.members.filter((site) => origins.get(site).state === 'open'),
  };
}

/** What a record does to them, as far as is known before it is delivered. */
export function findMemberChange(record: RedRecord, origins: Origins): MemberChange | undefined {
  if (record.kind !== 'member') return undefined;
  return { closes: record.action === 'change' ? origins.find(record.name) : undefined };
}
