/** What a site had of the red log beyond the end with which the log went on without it. */
// @rule PART-G11
import { expect, test } from 'vitest';
import type { SiteAlarm } from '../../../../../src/server/node/alarms/site-alarm.ts';
import {
  findKept,
  saveDroppedRecords,
} from '../../../../../src/server/node/red-log/dropped-records.ts';
import type { FollowedLog } from '../../../../../src/server/node/red-log/red-follower.ts';
import type { RecoveredState } from '../../../../../src/server/log/recovered-state.ts';

/** What a site with five records, the first of which a checkpoint has taken up, leaves of them. */
function drop(to: Pick<FollowedLog, 'base' | 'copy'>): {
  readonly alarms: SiteAlarm[];
  readonly files: Map<string, string>;
} {
  const entries = [1, 2, 3, 4].map((sequence) => ({
    sequence,
    record: { kind: 'operation', id: `c/${sequence}`, value: BigInt(sequence) },
  }));
  const marker = { sequence: 5, record: { kind: 'marker', id: 'ireland-0-1/0' } };
  const stored = { red: { start: 1, entries: [...entries, marker] } } as unknown as RecoveredState;
  const [alarms, files]: [SiteAlarm[], Map<string, string>] = [[], new Map()];
  saveDroppedRecords(
    stored,
    { generation: 3, leader: 'virginia', ...to },
    {
      site: 'ireland',
      files: { replace: (path, bytes) => void files.set(path, Buffer.from(bytes).toString()) },
      onAlarm: (alarm) => alarms.push(alarm),
    },
  );
  return { alarms, files };
}

test('records beyond the new log go into a file, with all kinds of values, and the alarm names both', () => {
  const { alarms, files } = drop({ base: { copy: 0, length: 3 }, copy: 0 });
  expect(alarms).toMatchObject([{ kind: 'red-records-dropped', site: 'ireland' }]);
  expect(alarms[0]?.message).toMatch(
    /2 red records of this site are lost.*virginia.*dropped-red-records-3\.json/,
  );
  const { records } = JSON.parse(files.get('dropped-red-records-3.json') as string);
  expect(records).toEqual([
    { kind: 'operation', id: 'c/3', value: { $bigint: '3' } },
    { kind: 'operation', id: 'c/4', value: { $bigint: '4' } },
  ]);
});

test('nothing but the marker of a read is beyond the new log → no alarm and no file', () => {
  const { alarms, files } = drop({ base: { copy: 0, length: 5 }, copy: 0 });
  expect([alarms, files.size]).toEqual([[], 0]);
});

test('the log was restored more than once meanwhile, from copies that are known → only what is beyond the first one', () => {
  const begin = { copy: 0, length: 3 };
  const { alarms } = drop({ base: { copy: 1, length: 9, begin }, copy: 0 });
  expect(alarms[0]?.message).toContain('2 red records of this site are lost');
});

test('the log was restored more than once meanwhile, from copies that are not known → all records are kept, and the alarm says that they may be lost', () => {
  const { alarms } = drop({ base: { copy: 1, length: 9 }, copy: 0 });
  expect(alarms[0]?.message).toContain('4 red records of this site may be lost');
});

test('several logs → the file has the records of all of them, and of each copy it keeps what is in the log too', () => {
  const entries = [0, 1].map((partition) =>
    [1, 2].map((sequence) => ({
      sequence,
      record: {
        kind: 'operation',
        id: `c/${partition}${sequence}`,
        ...(partition > 0 && { partition }),
      },
    })),
  );
  const [red, us] = entries.map((list) => ({ start: 0, entries: list }));
  const stored = {
    local: { start: 0, entries: [] },
    red,
    partitions: [us],
  } as unknown as RecoveredState;
  const base = { copy: 0, length: 1 };
  const opened = { generation: 1, leader: 'frankfurt', base };
  const dropped = (us1: number): readonly [unknown, readonly number[], string | undefined] => {
    const to = {
      ...opened,
      logs: [{ name: 'us', leader: 'virginia', base: { copy: 0, length: us1 } }],
      copy: 0,
    };
    let text: string | undefined;
    const alarms: SiteAlarm[] = [];
    saveDroppedRecords(stored, to, {
      site: 'ireland',
      files: { replace: (_, bytes) => void (text = Buffer.from(bytes).toString()) },
      onAlarm: (alarm) => alarms.push(alarm),
    });
    const kept = findKept(stored, to).map(({ length }) => length);
    return [JSON.parse(text ?? '{}').records, kept, alarms[0]?.message];
  };
  expect(dropped(1)).toEqual([
    [
      { kind: 'operation', id: 'c/02' },
      { kind: 'operation', id: 'c/12', partition: 1 },
    ],
    [1, 1],
    expect.stringMatching(
      /^Site ireland: 2 red records of this site are lost: .* began at frankfurt, virginia without/,
    ),
  ]);
  expect(dropped(2)).toEqual([
    [{ kind: 'operation', id: 'c/02' }],
    [1, 2],
    expect.stringContaining('began at frankfurt without'),
  ]);
});

test('the log was restored with a loss, and once more without one → what this site has delivered shows the loss', () => {
  const stored = {
    local: { start: 0, entries: [{ kind: 'delivered', redDelivered: [2, 4] }] },
    red: { start: 0, entries: [{}, {}] },
    partitions: [{ start: 0, entries: [{}, {}, {}, {}] }],
  } as unknown as RecoveredState;
  const begin = { copy: 0, length: 3 };
  const logs = [{ name: 'us', leader: 'virginia', base: { copy: 1, length: 9, begin } }];
  const to = { generation: 2, leader: 'virginia', base: { copy: 0, length: 2 }, logs, copy: 0 };
  expect(findKept(stored, to)).toEqual([
    { length: 2, isLossy: false },
    { length: 3, isLossy: true },
  ]);
});
