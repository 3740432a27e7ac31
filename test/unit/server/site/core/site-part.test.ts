import { expect, test } from 'vitest';
import {
  SiteParts,
  type Settling,
  type SitePart,
} from '../../../../../src/server/site/core/site-part.ts';
import type { Submission } from '../../../../../src/server/site/core/submissions.ts';

const FROM = 1 as never;

const NOTHING = { moving: [], following: [] };

/** A part that is due as often as the count. */
function createPart(name: string, calls: string[], count = 0): Settling & SitePart {
  let left = count;
  return {
    get isDue() {
      return left > 0;
    },
    settle: (hasMoved) => {
      left -= 1;
      calls.push(`${name} settles${hasMoved ? ' after a move' : ''}`);
      return true;
    },
    tick: (nowMs) => calls.push(`${name} ticks at ${nowMs}`),
  };
}

test('parts tick in the order of the list', () => {
  const calls: string[] = [];
  const parts = [createPart('blue', calls), {}, createPart('red', calls)];
  new SiteParts(parts, NOTHING).tick(7);
  expect(calls).toEqual(['blue ticks at 7', 'red ticks at 7']);
});

test('only parts that are due settle, and those that move do it until none is due', () => {
  const calls: string[] = [];
  const moving = [createPart('blue', calls, 2), createPart('red', calls, 1)];
  const following = [createPart('rights', calls), createPart('members', calls, 2)];
  const parts = new SiteParts([], { moving, following });
  parts.settle();
  expect(calls).toEqual([
    'blue settles',
    'red settles after a move',
    'blue settles',
    'members settles',
  ]);
});

test('a message goes to the part that takes its kind, and to no other', () => {
  const taken: string[] = [];
  const take = (name: string, ...kinds: readonly string[]): SitePart => ({
    kinds: kinds as never,
    receive: (_, { kind }) => void taken.push(`${name} ${kind}`),
  });
  const parts = new SiteParts([take('a', 'slot.request'), take('b', 'blue.received')], NOTHING);
  parts.receive(FROM, { kind: 'blue.received', sequence: 1 });
  parts.receive(FROM, { kind: 'rights.request' } as never);
  expect(taken).toEqual(['b blue.received']);
});

test('busy is the site if one part is, and the earliest time of a part that is due counts', () => {
  const parts = new SiteParts(
    [
      { isDue: true, isBusy: false, wakeAtMs: undefined },
      { isDue: true, isBusy: true, wakeAtMs: 30 },
      { isDue: true, wakeAtMs: 20 },
      { isDue: false, wakeAtMs: 10 },
    ],
    NOTHING,
  );
  expect([parts.isBusy, parts.wakeAtMs]).toEqual([true, 20]);
  expect([new SiteParts([], NOTHING).isBusy, new SiteParts([{}], NOTHING).wakeAtMs]).toEqual([
    false,
    undefined,
  ]);
});

test('the part where a submission waits gives it back, and the others are not asked', () => {
  const submission = { serial: 3 } as Submission;
  const parts = new SiteParts(
    [
      { cancel: () => undefined },
      { cancel: () => submission, hasWaiter: (id) => id === 'a/1' },
      {
        cancel: () => {
          throw new Error('asked for a submission that was found before');
        },
      },
    ],
    NOTHING,
  );
  expect(parts.cancel(3)).toBe(submission);
  expect([parts.hasWaiter('a/1'), parts.hasWaiter('a/2')]).toEqual([true, false]);
});
