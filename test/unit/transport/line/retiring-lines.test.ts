/** Lines that are kept for their last answers: how many, and until when. */
import { expect, test } from 'vitest';
import type { Line } from '../../../../src/transport/line/line.ts';
import { RetiringLines } from '../../../../src/transport/sender.ts';
import { FakePlatform } from '../fake-platform.ts';

/** A line on which so many answers are awaited, and what was done with it. */
function line(awaited: number): { readonly line: Line; readonly done: string[] } {
  const done: string[] = [];
  const fake = { awaited, retired: false, flush: () => done.push('flush'), drop: () => done.push('drop') };
  return { line: fake as unknown as Line, done };
}

function start() {
  const platform = new FakePlatform();
  const ended: Line[] = [];
  return { platform, ended, lines: new RetiringLines(platform, (one) => ended.push(one)) };
}

test('answers are awaited → kept until the last has come; then what was said is sent, and the line goes once', () => {
  const { platform, ended, lines } = start();
  const { line: one, done } = line(2);
  lines.add(one, 1_000);
  expect([one.retired, lines.has(one), lines.size]).toEqual([true, true, 1]);
  expect(lines.has(line(2).line)).toBe(false);
  one.awaited = 1;
  lines.endIfAnswered(one);
  expect(lines.has(one)).toBe(true);
  one.awaited = 0;
  lines.endIfAnswered(one);
  lines.endIfAnswered(one);
  expect([lines.size, ended, done, platform.timers]).toEqual([0, [one], ['flush', 'drop'], 0]);
});

test('nothing is awaited → goes at once', () => {
  const { platform, ended, lines } = start();
  const { line: one } = line(0);
  lines.add(one, 1_000);
  expect([lines.size, ended, platform.timers]).toEqual([0, [one], 0]);
});

test('its time is over → goes without its answers', () => {
  const { platform, ended, lines } = start();
  const { line: one } = line(3);
  lines.add(one, 1_000);
  platform.advance(999);
  expect(ended).toEqual([]);
  platform.advance(1);
  expect(ended).toEqual([one]);
});

test('more than eight → the oldest goes, and only that', () => {
  const { ended, lines } = start();
  const kept = Array.from({ length: 9 }, () => line(1).line);
  for (const one of kept.slice(0, 8)) lines.add(one, 1_000);
  expect([lines.size, ended]).toEqual([8, []]);
  lines.add(kept[8]!, 1_000);
  expect([lines.size, ended]).toEqual([8, [kept[0]]]);
  lines.endAll();
  expect([lines.size, ended]).toEqual([0, kept]);
});
