/** Histories that no register can have, and those that look like it: each check is seen to fail. */
import { expect, test } from 'vitest';
import fc from 'fast-check';
import {
  backInTime,
  registerFaults,
  unreadable,
  type Read,
} from '../../histories/checks/registers.ts';
import type { Call } from '../../histories/history.ts';
import { sharesOf, testShares, unnoted, type Note } from '../../support/property-shares.ts';
import { NOT_MADE, UNKNOWN, written } from './build.ts';
import { scaleRuns } from '../../support/lane.ts';

const read = (value: string | undefined, atMs: number, session = 's'): Read => ({
  session,
  value,
  beginMs: atMs,
  endMs: atMs + 10,
});
const faultsOf = (writes: readonly Call[], ...reads: Read[]): string[] =>
  registerFaults('k', writes, reads);

test('a register: reads of what was written last → no fault', () => {
  const writes = [written('a', 20), written('b', 60)];
  expect(faultsOf(writes, read(undefined, 0), read('a', 40), read('b', 80))).toEqual([]);
});

test('an acknowledged write that is not there in the end → a fault; overwritten, or of unknown outcome → none', () => {
  expect(faultsOf([written('a', 0)], read(undefined, 20))).toEqual([
    'k: undefined and "a" would both have been there at 0 ms',
  ]);
  expect(faultsOf([written('a', 0), written('b', 20)], read('a', 40))).toHaveLength(1);
  expect(faultsOf([written('a', 0), written('b', 5)], read('a', 40))).toEqual([]);
  expect(faultsOf([written('a', 0), written('b', 20, UNKNOWN)], read('a', 40))).toEqual([]);
});

test('a value that comes back after another → a fault', () => {
  const writes = [written('a', 0), written('b', 5, { endMs: 35 })];
  expect(faultsOf(writes, read('a', 20), read('b', 40), read('a', 60))).toHaveLength(1);
  expect(faultsOf(writes, read('a', 20), read('b', 40))).toEqual([]);
});

test('a stale read beside an unknown write that was seen → a fault', () => {
  const writes = [written('a', 0), written('b', 20, UNKNOWN)];
  expect(faultsOf(writes, read('b', 40), read('a', 60))).toHaveLength(1);
});

test('values that no call wrote, or not yet, or whose write failed as not made → faults, at any level', () => {
  const writes = [written('a', 50), written('b', 0, NOT_MADE)];
  const reads = [read('c', 0), read('a', 0), read('b', 900)];
  expect(unreadable('k', writes, reads)).toEqual([
    'k: s read "c" at 10 ms, which no call wrote',
    'k: s read "a" at 10 ms, before it was written',
    'k: s read "b" at 910 ms, whose write failed as not made (UNAVAILABLE)',
  ]);
});

test('views of one session that go back in time → a fault; of two sessions, or at the same time → none', () => {
  const writes = [written('a', 0), written('b', 20)];
  expect(backInTime('k', writes, [read('b', 40), read('a', 60)])).toEqual([
    'k: s read "b", then "a", which is older, at 70 ms',
  ]);
  expect(backInTime('k', writes, [read('b', 40), read(undefined, 60)])).toHaveLength(1);
  expect(backInTime('k', writes, [read('b', 40), read('a', 60, 'r')])).toEqual([]);
  expect(backInTime('k', writes, [read('b', 40), read('a', 45)])).toEqual([]);
  expect(
    backInTime('k', [written('a', 0), written('b', 5)], [read('b', 40), read('a', 60)]),
  ).toEqual([]);
});

/** No value that is written. */
const NOTHING = -1;

const ops = fc.array(
  fc.record({
    isWrite: fc.boolean(),
    value: fc.integer({ min: 0, max: 3 }),
    /**
     * A read gives what was written last before a moment within it, as a register does; else any
     * value.
     */
    isTrue: fc.constantFrom(true, true, false),
    beginMs: fc.integer({ min: 0, max: 40 }),
    lengthMs: fc.integer({ min: 1, max: 15 }),
  }),
  { minLength: 4, maxLength: 7 },
);

const judged = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(ops, (generated) => {
    // All times apart from one another: what begins as another ends is neither before nor after it.
    const spread = generated.map((op, n) => ({
      ...op,
      beginMs: op.beginMs + n / 100,
      atMs: op.beginMs + op.lengthMs / 2 + n / 100,
      endMs: op.beginMs + op.lengthMs + n / 100 + 0.005,
    }));
    const seen = new Set<number>();
    const writes = spread.filter(
      ({ isWrite, value }) => isWrite && !seen.has(value) && seen.add(value),
    );
    const calls = writes.map(({ value, beginMs, endMs }) =>
      written(`v${value}`, beginMs, { endMs }),
    );
    const lastBefore = (moment: number): number =>
      writes.filter(({ atMs }) => atMs < moment).toSorted((a, b) => b.atMs - a.atMs)[0]?.value ??
      NOTHING;
    const anyOf = (place: number): number => [NOTHING, ...seen][place % (seen.size + 1)] as number;
    const reads = spread
      .filter(({ isWrite }) => !isWrite)
      .map(({ isTrue, value, atMs, ...op }) => ({
        ...op,
        value: isTrue ? lastBefore(atMs) : anyOf(value),
      }))
      .map(({ value, beginMs, endMs }) => ({
        session: 's',
        value: value === NOTHING ? undefined : `v${value}`,
        beginMs,
        endMs,
      }));
    const isRight = isLinearizable(calls, reads);
    expect(registerFaults('k', calls, reads).length === 0).toBe(isRight);
    if (calls.length > 1 && reads.length > 1)
      note(isRight ? 'several, of a register' : 'several, of no register');
  });

test('small histories → judged as by trying all orders', async () => {
  await fc.assert(judged(unnoted), { numRuns: scaleRuns(3_000) });
});

testShares(
  'the histories → several writes and reads in many, of a register and of none',
  async () => {
    const shares = await sharesOf(judged);
    for (const description of ['several, of a register', 'several, of no register']) {
      expect(shares[description], description).toBeGreaterThan(0.15);
    }
  },
);

/**
 * By brute force: some order, in which nothing comes before what ended earlier, in which each read
 * sees the last write.
 */
function isLinearizable(writes: readonly Call[], reads: readonly Read[]): boolean {
  const all = [
    ...writes.map(({ input, beginMs, endMs = 0 }) => ({
      write: String(input),
      beginMs,
      endMs,
      value: undefined,
    })),
    ...reads.map(({ value, beginMs, endMs }) => ({ write: undefined, beginMs, endMs, value })),
  ];
  const search = (left: typeof all, state: string | undefined): boolean =>
    left.length === 0 ||
    left.some((op) => {
      const remaining = left.filter((item) => item !== op);
      if (remaining.some(({ endMs }) => endMs < op.beginMs)) return false;
      if (op.write === undefined && op.value !== state) return false;
      return search(remaining, op.write ?? state);
    });
  return search(all, undefined);
}
