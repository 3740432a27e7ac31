/** What a node has to write on a full disk: it says so, and goes on once there is room. */
// @rule CLU-T10
import { expect, test } from 'vitest';
import type { SiteAlarm } from '../../../../../src/server/node/alarms/site-alarm.ts';
import { DiskRoom } from '../../../../../src/server/node/cluster/disk-room.ts';

const full = (): Error => Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });

function createRoom() {
  const alarms: SiteAlarm['kind'][] = [];
  const closing = new AbortController();
  const room = new DiskRoom({
    site: 'a',
    onAlarm: ({ kind }) => alarms.push(kind),
    signal: closing.signal,
    retryAfterMs: 1,
  });
  return { room, alarms, closing };
}

test('a step is repeated until there is room, with one alarm for each change', async () => {
  const { room, alarms } = createRoom();
  const problems: (string | undefined)[] = [];
  const errors = [full(), new Error('it cannot start', { cause: full() })];
  const done = room.repeat(() => {
    problems.push(room.problem);
    const error = errors.shift();
    if (error !== undefined) throw error;
    return 'done';
  });
  expect(await done).toBe('done');
  expect(problems).toEqual([
    undefined,
    ...Array(2).fill(expect.stringContaining('waiting for room on the disk')),
  ]);
  expect([alarms, room.problem]).toEqual([['disk-full', 'disk-has-room'], undefined]);
});

test('what fails for another reason is not repeated', async () => {
  const { room, alarms } = createRoom();
  await expect(room.repeat(() => Promise.reject(new Error('taken over')))).rejects.toThrow(
    'taken over',
  );
  expect(alarms).toEqual([]);
});

test('once the node is closed nothing is repeated', async () => {
  const { room, closing } = createRoom();
  const done = room.repeat(() => {
    closing.abort(new Error('closed'));
    throw full();
  });
  await expect(done).rejects.toThrow('closed');
});

test('a write without room is reported, and fails', () => {
  const { room, alarms } = createRoom();
  const attempt = (): void =>
    room.write(() => {
      throw full();
    });
  expect(attempt).toThrow('ENOSPC');
  expect(attempt).toThrow('ENOSPC');
  expect(room.write(() => 'written')).toBe('written');
  expect(alarms).toEqual(['disk-full', 'disk-has-room']);
});
