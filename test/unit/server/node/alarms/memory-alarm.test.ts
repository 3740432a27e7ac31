/** The alarms about the memory of a site say what takes it, and what to do. */
// @rule STO-33
import { expect, test } from 'vitest';
import { createMemoryAlarm } from '../../../../../src/server/node/alarms/memory-alarm.ts';
import type { MemoryLevel } from '../../../../../src/server/site/core/memory-port.ts';

const MIB = 2 ** 20;

function raise(levels: readonly MemoryLevel[]): (readonly [kind: string, message: string])[] {
  const raised: (readonly [string, string])[] = [];
  const note = createMemoryAlarm('ireland', ({ kind, message }) => raised.push([kind, message]));
  const use = { rows: 70 * MIB, replies: 0, window: 0, logs: 12 * MIB, waiting: 0 };
  const tables = [
    ['accounts', 60 * MIB],
    ['notes', 10 * MIB],
  ] as const;
  for (const level of levels) note(level, { use, bytes: 82 * MIB, maxBytes: 100 * MIB, tables });
  return raised;
}

test('memory-low names the largest parts and tables, and the effect', () => {
  const [[kind, message] = []] = raise(['low']);
  expect(kind).toBe('memory-low');
  expect(message).toContain(
    'it uses 82 MiB of the 100 MiB of memory that it may: 70 MiB rows (accounts 60 MiB, notes 10 MiB); 12 MiB log entries that other sites lack;',
  );
  expect(message).toContain('From 90 % on, writes are refused. Give it more memory (--memory');
});

test('the alarm is raised again when writes are refused, and ends with memory-has-room', () => {
  const raised = raise(['low', 'full', 'low', 'enough']);
  expect(raised.map(([kind]) => kind)).toEqual([
    'memory-low',
    'memory-low',
    'memory-low',
    'memory-has-room',
  ]);
  expect(raised[1]?.[1]).toContain('Writes are refused that do not remove anything');
  expect(raised[2]?.[1]).toContain('Writes are taken again');
});
