/** What a day's work does, so that it is no weaker a baseline than it says. */
import { expect, test } from 'vitest';
import { unpack } from 'msgpackr';
import { answering, GroupCommit } from '../../../bench/load/day-server.ts';
import type { DayCall } from '../../../bench/load/day-protocol.ts';

test('accounts: nobody draws more than there is, and only what has happened is logged', () => {
  const logged: DayCall[] = [];
  const answer = answering({ add: (call) => void logged.push(call) });
  expect(answer([1, 'deposit', 'ann', 5])).toEqual([1, null]);
  expect(answer([2, 'withdraw', 'ann', 6])).toEqual([2, false]);
  expect(answer([3, 'withdraw', 'ann', 3])).toEqual([3, true]);
  expect(answer([4, 'withdraw', 'ann', 3])).toEqual([4, false]);
  expect(answer([5, 'balance', 'ann'])).toEqual([5, 2]);
  expect(answer([6, 'set', 'key', 'value'])).toEqual([6, null]);
  expect(logged.map(([id]) => id)).toEqual([1, 3, 6]);
});

test('arguments are checked by hand', () => {
  const answer = answering({ add: () => {} });
  expect(answer([1, 'deposit', 'ann', 0.5])).toEqual([1, null, 'cents must be a whole number']);
  expect(answer([2, 'set', 'key', 7])).toEqual([2, null, 'the value must be a string']);
  expect(answer([3, 'balance', ''])).toEqual([3, null, 'the key must be a string']);
});

test('log: entries are written, then synced, then answered; what comes meanwhile shares the next sync', async () => {
  const steps: string[] = [];
  let synced = (): void => {};
  const log = new GroupCommit({
    appendFile: async (entries) => void steps.push(`append ${(unpack(entries) as DayCall[]).map(([id]) => id).join()}`),
    datasync: () =>
      new Promise((resolve) => {
        steps.push('sync');
        synced = resolve;
      }),
  });
  let sent = (): void => {};
  const socket = {
    send: (frame: Uint8Array) => {
      steps.push(`answer ${(unpack(frame) as [number][]).map(([id]) => id).join()}`);
      sent();
    },
  };
  const nextAnswer = (): Promise<void> => new Promise((resolve) => (sent = resolve));
  const enter = (id: number): void => {
    log.add([id, 'deposit', 'ann', 1]);
    log.answer({ socket, rows: [[id, null]] });
  };
  enter(1);
  await expect.poll(() => steps.at(-1)).toBe('sync');
  enter(2);
  enter(3);
  expect(steps).toEqual(['append 1', 'sync']);
  const first = nextAnswer();
  synced();
  await first;
  await expect.poll(() => steps.at(-1)).toBe('sync');
  const second = nextAnswer();
  synced();
  await second;
  await expect.poll(() => steps.at(-1)).toBe('answer 3');
  expect(steps).toEqual(['append 1', 'sync', 'answer 1', 'append 2,3', 'sync', 'answer 2', 'answer 3']);
});
