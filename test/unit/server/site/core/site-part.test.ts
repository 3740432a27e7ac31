import { expect, test } from 'vitest';
import { SiteParts, type SitePart } from '../../../../../src/server/site/core/site-part.ts';
import type { Submission } from '../../../../../src/server/site/core/submissions.ts';

const FROM = 1 as never;

function createPart(name: string, calls: string[], more: SitePart = {}): SitePart {
  return {
    settle: () => calls.push(`${name} settles`),
    tick: (nowMs) => calls.push(`${name} ticks at ${nowMs}`),
    ...more,
  } as SitePart;
}

test('parts settle and tick in the order of the list', () => {
  const calls: string[] = [];
  const parts = new SiteParts([createPart('blue', calls), {}, createPart('red', calls)]);
  parts.tick(7);
  parts.settle();
  expect(calls).toEqual(['blue ticks at 7', 'red ticks at 7', 'blue settles', 'red settles']);
});

test('a message goes to the part that takes its kind, and to no other', () => {
  const taken: string[] = [];
  const take = (name: string, ...kinds: readonly string[]): SitePart => ({
    kinds: kinds as never,
    receive: (_, { kind }) => void taken.push(`${name} ${kind}`),
  });
  const parts = new SiteParts([take('a', 'slot.request'), take('b', 'blue.received')]);
  parts.receive(FROM, { kind: 'blue.received', sequence: 1 });
  parts.receive(FROM, { kind: 'rights.request' } as never);
  expect(taken).toEqual(['b blue.received']);
});

test('busy is the site if one part is, and the earliest time counts', () => {
  const parts = new SiteParts([
    { isBusy: false, wakeAtMs: undefined },
    { isBusy: true, wakeAtMs: 30 },
    { wakeAtMs: 20 },
  ]);
  expect([parts.isBusy, parts.wakeAtMs]).toEqual([true, 20]);
  expect([new SiteParts([]).isBusy, new SiteParts([{}]).wakeAtMs]).toEqual([false, undefined]);
});

test('the part where a submission waits gives it back, and the others are not asked', () => {
  const submission = { serial: 3 } as Submission;
  const parts = new SiteParts([
    { cancel: () => undefined },
    { cancel: () => submission, hasWaiter: (id) => id === 'a/1' },
    {
      cancel: () => {
        throw new Error('asked for a submission that was found before');
      },
    },
  ]);
  expect(parts.cancel(3)).toBe(submission);
  expect([parts.hasWaiter('a/1'), parts.hasWaiter('a/2')]).toEqual([true, false]);
});
