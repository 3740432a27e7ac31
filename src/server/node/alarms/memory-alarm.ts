/** Raises alarms about the memory of a site, with what takes it. */
import type { MemoryLevel, MemoryStatus, MemoryUse } from '../../site/core/memory-port.ts';
import { formatMegabytes } from '../memory/memory-size.ts';
import { createAlarmRaiser, type OnAlarm } from './site-alarm.ts';

/** How many tables a message names. */
const MAX_NAMED_TABLES = 3;

const PARTS: Readonly<Record<Exclude<keyof MemoryUse, 'rows'>, string>> = {
  replies: 'replies of writes that are kept for resends',
  window: 'the last red commits',
  logs: 'log entries that other sites lack',
  waiting: 'operations in flight',
};

/** Creates the observer that raises `memory-low` and `memory-has-room`. */
export function createMemoryAlarm(
  site: string,
  onAlarm: OnAlarm,
): (level: MemoryLevel, status: MemoryStatus) => void {
  const raise = createAlarmRaiser(site, onAlarm);
  let last: MemoryLevel = 'enough';
  return (level, status) => {
    const isBetter = last === 'full' && level === 'low';
    last = level;
    const { bytes, maxBytes = Infinity } = status;
    const used = `it uses ${formatMegabytes(bytes)} of the ${formatMegabytes(maxBytes)} of memory that it may`;
    if (level === 'enough') return raise('memory-has-room', `${used}, and takes all writes.`);
    const effect = isBetter
      ? 'Writes are taken again'
      : level === 'full'
        ? 'Writes are refused that do not remove anything; reads are served'
        : 'From 90 % on, writes are refused';
    const advice = 'Give it more memory (--memory or memoryBytes, and a restart), or remove rows.';
    raise('memory-low', `${used}: ${formatUse(status)}. ${effect}. ${advice}`);
  };
}

/** Formats the parts, the largest one first, with the largest tables. */
function formatUse({ use: { rows, ...others }, tables }: MemoryStatus): string {
  const largest = tables.slice(0, MAX_NAMED_TABLES);
  const names = largest.map(([table, bytes]) => `${table} ${formatMegabytes(bytes)}`);
  const parts = Object.entries(PARTS).map(
    ([part, text]) => [text, others[part as keyof typeof PARTS]] as const,
  );
  return [[`rows (${names.join(', ')})`, rows] as const, ...parts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([text, bytes]) => `${formatMegabytes(bytes)} ${text}`)
    .join('; ');
}
