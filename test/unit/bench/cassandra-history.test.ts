/** What is counted from a history of reads and writes, with each fault planted. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { count, LOADED, type HistoryEvent, type ReadEvent, type WriteEvent } from '../../../bench/cassandra/history.ts';

function write(tag: string, beganMs: number, endedMs: number, key = 'k'): WriteEvent {
  return { kind: 'write', client: 'w', key, field: 0, tag, beganMs, endedMs };
}

function read(final: string | null, beganMs: number, preliminary?: string): ReadEvent {
  const early = preliminary === undefined ? {} : { preliminary: [preliminary] };
  return { kind: 'read', client: 'r', key: 'k', beganMs, endedMs: beganMs + 40, ...early, final: [final] };
}

const stale = (...history: HistoryEvent[]): number => count(history).staleFinals;

test('stale: a final older than a write acknowledged before the read → counted', () => {
  expect(stale(write('a', 0, 10), write('b', 20, 30), read('a', 31))).toBe(1);
  expect(stale(write('a', 0, 10), read(LOADED, 11))).toBe(1);
  expect(stale(write('a', 0, 10), read(null, 11))).toBe(1);
});

test('stale: a final with the newest write, or a newer one → not counted', () => {
  expect(stale(write('a', 0, 10), write('b', 20, 30), read('b', 31))).toBe(0);
  expect(stale(write('a', 0, 10), write('b', 20, 90), read('b', 31))).toBe(0);
});

test('stale: the write was acknowledged only after the read began → either value will do', () => {
  expect(stale(write('a', 0, 10), write('b', 20, 30), read('a', 30))).toBe(0);
  expect(stale(write('b', 20, 30), read(LOADED, 25))).toBe(0);
});

test('stale: writes at the same time → either may be the last', () => {
  expect(stale(write('a', 0, 25), write('b', 20, 30), read('a', 31))).toBe(0);
  expect(stale(write('a', 0, 25), write('b', 20, 30), read('b', 31))).toBe(0);
});

test('stale: a long write that began early hides none that began later', () => {
  const history = [write('a', 0, 5), write('b', 10, 20), write('slow', 1, 25)];
  expect(stale(...history, read('a', 30))).toBe(1);
});

test('stale: a value whose writer was never answered → may be the newest', () => {
  expect(stale(write('a', 0, 10), read('unanswered', 20))).toBe(0);
});

test('stale: other records → not mixed up', () => {
  expect(stale(write('a', 0, 10), write('b', 20, 30, 'other'), read('a', 31))).toBe(0);
});

test('views: those that differ and those that are stale → counted apart', () => {
  const history = [write('a', 0, 10), read('a', 20, 'a'), read('a', 20, LOADED), read('a', 20)];
  expect(count(history)).toEqual({ reads: 3, preliminaries: 2, diverged: 1, staleFinals: 0, stalePreliminaries: 1 });
});

test('stale: one copy, read and written in any order → never', () => {
  const step = fc.record({
    isWrite: fc.boolean(),
    tookMs: fc.integer({ min: 1, max: 5 }),
    gapMs: fc.integer({ min: 0, max: 5 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      let [nowMs, value] = [1, LOADED as string];
      const history = steps.map(({ isWrite, tookMs, gapMs }, n): HistoryEvent => {
        const beganMs = nowMs + gapMs;
        nowMs = beganMs + tookMs;
        if (!isWrite) return read(value, beganMs, value);
        value = `v${n}`;
        return write(value, beganMs, nowMs);
      });
      expect(count(history)).toMatchObject({ staleFinals: 0, stalePreliminaries: 0, diverged: 0 });
    }),
  );
});
