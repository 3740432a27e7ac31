/**
 * The bound of docs/spec/thresholds.md, executed: however long each update of others is on its way to its place in the order
 * and its answer on the way back, no stretch of the order holds more of them than `unseenMax` says.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Places } from '../../src/correctable/pace/places.ts';
import { unseenMax, type Pace } from '../../src/correctable/pace/unseen.ts';

/** How long one update takes to its place in the order, and its answer back. */
interface Trip {
  readonly thereMs: number;
  readonly backMs: number;
}

/** When each update of one who takes whenever there is a place is ordered. */
function orderedAt(pace: Pace, trips: readonly Trip[]): number[] {
  const places = new Places(pace);
  const underWay: { readonly takenAtMs: number; readonly endsAtMs: number }[] = [];
  let nowMs = 0;
  return trips.map(({ thereMs, backMs }) => {
    while (!places.take(nowMs)) {
      const [first] = underWay.sort((a, b) => a.endsAtMs - b.endsAtMs);
      const endsAtMs = first?.endsAtMs ?? Infinity;
      nowMs = Math.max(nowMs, Math.min(endsAtMs, places.nextFreeAtMs ?? Infinity));
      if (first !== undefined && endsAtMs <= nowMs) {
        underWay.shift();
        places.leave(first.takenAtMs, nowMs);
      }
    }
    underWay.push({ takenAtMs: nowMs, endsAtMs: nowMs + thereMs + backMs });
    return nowMs + thereMs;
  });
}

const ms = fc.integer({ min: 0, max: 60 });
const seller = fc.record({
  window: fc.integer({ min: 1, max: 4 }),
  turnMs: fc.integer({ min: 1, max: 30 }),
  trips: fc.array(fc.record({ thereMs: ms, backMs: ms }), { minLength: 1, maxLength: 60 }),
});

test('others at their pace: any stretch of the order → no more of theirs than the bound', () => {
  fc.assert(
    fc.property(fc.array(seller, { maxLength: 3 }), fc.integer({ min: 1, max: 200 }), (sellers, withinMs) => {
      const all = sellers.flatMap(({ trips, ...pace }) => orderedAt(pace, trips)).sort((a, b) => a - b);
      const most = unseenMax({ withinMs, others: sellers });
      // From just after one that the view knows of to just before its own place.
      for (const [first, from] of all.entries()) {
        const between = all.slice(first).filter((at) => at < from + withinMs).length;
        expect(between).toBeLessThanOrEqual(most);
      }
    }),
  );
});

test('the bound is no larger than it has to be: somebody reaches it', () => {
  const pace = { window: 3, turnMs: 20 };
  const first = Array.from({ length: 3 }, () => ({ thereMs: 20, backMs: 0 }));
  const next = Array.from({ length: 9 }, () => ({ thereMs: 0, backMs: 0 }));
  const at = orderedAt(pace, [...first, ...next]);
  const inStretch = at.filter((each) => each >= 20 && each < 20 + 60).length;
  expect(inStretch).toBe(unseenMax({ withinMs: 60, others: [pace] }));
});
