/**
 * The bound of docs/spec/thresholds.md, executed: however long each write of others takes to its
 * place in the order, and its reply on the way back, no stretch of the order holds more of them
 * than `computeMaxConcurrentWrites` returns.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ThrottleSlots } from '../../src/correctable/throttle/throttle-slots.ts';
import {
  computeMaxConcurrentWrites,
  type Throttle,
} from '../../src/correctable/throttle/concurrent-writes.ts';
import { onceEach, sharesOf, testShares, unnoted, type Note } from '../support/property-shares.ts';

/** How long one update takes to its place in the order, and its answer back. */
interface Trip {
  readonly thereMs: number;
  readonly backMs: number;
}

/** When each update of one who takes whenever there is a place is ordered. */
function orderedAt(pace: Throttle, trips: readonly Trip[], note: Note = unnoted): number[] {
  const places = new ThrottleSlots(pace);
  const inFlight: { readonly takenAtMs: number; readonly endsAtMs: number }[] = [];
  let nowMs = 0;
  return trips.map(({ thereMs, backMs }) => {
    while (!places.tryAcquire(nowMs)) {
      note('an operation waits for a place');
      if (places.nextFreeAtMs !== undefined) note('an operation waits for a turn');
      const [first] = inFlight.sort((a, b) => a.endsAtMs - b.endsAtMs);
      const endsAtMs = first?.endsAtMs ?? Infinity;
      nowMs = Math.max(nowMs, Math.min(endsAtMs, places.nextFreeAtMs ?? Infinity));
      if (first !== undefined && endsAtMs <= nowMs) {
        inFlight.shift();
        places.release(first.takenAtMs, nowMs);
      }
    }
    inFlight.push({ takenAtMs: nowMs, endsAtMs: nowMs + thereMs + backMs });
    return nowMs + thereMs;
  });
}

const ms = fc.integer({ min: 0, max: 60 });
const pace = {
  maxInFlight: fc.integer({ min: 1, max: 4 }),
  minSlotIntervalMs: fc.integer({ min: 1, max: 30 }),
};
const anySeller = fc.record({
  ...pace,
  trips: fc.array(fc.record({ thereMs: ms, backMs: ms }), { minLength: 1, maxLength: 60 }),
});

/**
 * What hurts most: the first updates take long to their places, and arrive at the same time as
 * those that follow.
 */
const SLOW_MS = 40;
const soon = fc.constantFrom(0, 0, 0, 1);
const rushing = fc.record({
  ...pace,
  trips: fc
    .record({
      slow: fc.nat(3),
      quick: fc.array(fc.record({ thereMs: soon, backMs: soon }), { minLength: 20, maxLength: 60 }),
    })
    .map(({ slow, quick }) => [
      ...Array.from({ length: slow + 1 }, () => ({ thereMs: SLOW_MS, backMs: 0 })),
      ...quick,
    ]),
});
const seller = fc.oneof({ weight: 1, arbitrary: anySeller }, { weight: 3, arbitrary: rushing });
const within = fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 40 }));

const paced = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(
    fc.array(seller, { minLength: 1, maxLength: 3 }),
    within,
    (sellers, commitLatencyMs) => {
      const once = onceEach(note);
      const all = sellers
        .flatMap(({ trips, ...own }) => orderedAt(own, trips, once))
        .sort((a, b) => a - b);
      const most = computeMaxConcurrentWrites({ commitLatencyMs, throttles: sellers });
      let encountered = 0;
      // From just after one that the view knows of to just before its own place.
      for (const [first, from] of all.entries()) {
        const between = all.slice(first).filter((at) => at < from + commitLatencyMs).length;
        expect(between).toBeLessThanOrEqual(most);
        encountered = Math.max(encountered, between);
      }
      if (encountered > 1) once('several in one stretch');
      if (sellers.length > 1) once('several sellers');
      if (encountered > 0 && encountered === most) once('as many as the bound');
      if (encountered > most / 2) once('more than half of the bound');
    },
  );

test('others at their pace: any stretch of the order → no more of theirs than the bound', async () => {
  await fc.assert(paced(unnoted));
});

testShares('the sellers → most wait for their places, and come near the bound', async () => {
  const shares = await sharesOf(paced);
  for (const description of [
    'an operation waits for a place',
    'an operation waits for a turn',
    'several in one stretch',
    'several sellers',
  ]) {
    expect(shares[description], description).toBeGreaterThan(0.6);
  }
  expect(shares['more than half of the bound']).toBeGreaterThan(0.5);
  expect(shares['as many as the bound']).toBeGreaterThan(0.05);
});

test('the bound is no larger than it has to be: some run reaches it', () => {
  const own = { maxInFlight: 3, minSlotIntervalMs: 20 };
  const first = Array.from({ length: 3 }, () => ({ thereMs: 20, backMs: 0 }));
  const next = Array.from({ length: 9 }, () => ({ thereMs: 0, backMs: 0 }));
  const at = orderedAt(own, [...first, ...next]);
  const inStretch = at.filter((item) => item >= 20 && item < 20 + 60).length;
  expect(inStretch).toBe(computeMaxConcurrentWrites({ commitLatencyMs: 60, throttles: [own] }));
});
