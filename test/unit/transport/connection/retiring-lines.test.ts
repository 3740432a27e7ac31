/** Lines that are kept for their last answers: how many, and until when. */
import { expect, test } from 'vitest';
import type { Connection } from '../../../../src/transport/connection/connection.ts';
import { DrainingConnections } from '../../../../src/transport/sender.ts';
import { FakePlatform } from '../fake-platform.ts';

/** A line on which so many answers are awaited, and what was done with it. */
function line(awaitedCount: number): { readonly line: Connection; readonly done: string[] } {
  const done: string[] = [];
  const terminate = (): unknown => done.push('terminate');
  const fake = { awaitedCount, isDraining: false, flush: () => done.push('flush'), terminate };
  return { line: fake as unknown as Connection, done };
}

function start() {
  const platform = new FakePlatform();
  const ended: Connection[] = [];
  return { platform, ended, lines: new DrainingConnections(platform, (item) => ended.push(item)) };
}

test('replies are pending → kept until the last has come; then waiting rows are sent, and the connection closes once', () => {
  const { platform, ended, lines } = start();
  const { line: item, done } = line(2);
  lines.add(item, 1_000);
  expect([item.isDraining, lines.size]).toEqual([true, 1]);
  item.awaitedCount = 1;
  lines.endIfAnswered(item);
  expect(lines.size).toBe(1);
  item.awaitedCount = 0;
  lines.endIfAnswered(item);
  lines.endIfAnswered(item);
  expect([lines.size, ended, done, platform.timers]).toEqual([
    0,
    [item],
    ['flush', 'terminate'],
    0,
  ]);
});

test('nothing is awaited → goes at once', () => {
  const { platform, ended, lines } = start();
  const { line: item } = line(0);
  lines.add(item, 1_000);
  expect([lines.size, ended, platform.timers]).toEqual([0, [item], 0]);
});

test('its time is over → goes without its answers', () => {
  const { platform, ended, lines } = start();
  const { line: item } = line(3);
  lines.add(item, 1_000);
  platform.advance(999);
  expect(ended).toEqual([]);
  platform.advance(1);
  expect(ended).toEqual([item]);
});

test('more than eight → the oldest goes, and only that', () => {
  const { ended, lines } = start();
  const retained = Array.from({ length: 9 }, () => line(1).line);
  for (const item of retained.slice(0, 8)) lines.add(item, 1_000);
  expect([lines.size, ended]).toEqual([8, []]);
  lines.add(retained[8]!, 1_000);
  expect([lines.size, ended]).toEqual([8, [retained[0]]]);
  lines.endAll();
  expect([lines.size, ended]).toEqual([0, retained]);
});
