/** An enqueue's preliminary view is held to a round trip, where it is the worst, in as many rounds as that takes. */
import { expect, test } from 'vitest';
import { barsOf, measureRounds, type Round, type Timed } from '../../../bench/zookeeper/latency-rounds.ts';

/** A round in which a preliminary view takes so many round trips of 40 ms, and the millisecond that is allowed. */
function round(trips: number, roundTripMs = 40): Round {
  const preliminaryMs = trips * roundTripMs + 1;
  return { roundTripMs, plainMs: 90, preliminaryMs, finalMs: 90, preliminaryViews: 1, plainBytes: 100, bytes: 150 };
}

const rounds = (...trips: readonly number[]): Round[] => trips.map((each) => round(each));
const seven = (trips: number): Round[] => rounds(...Array.from({ length: 7 }, () => trips));

test.each([
  { is: 'a round trip everywhere', placements: [seven(1), seven(1.1)], value: 1.1, verdict: 'met' },
  { is: 'too long at one of them', placements: [seven(1), seven(1.2), seven(1)], value: 1.2, verdict: 'missed' },
  {
    is: 'too long in some rounds of one',
    placements: [seven(1), rounds(1, 1, 1, 1, 1.3, 1.3, 1.3)],
    value: 1,
    verdict: 'undecided',
  },
  { is: 'a round trip in six rounds', placements: [seven(1).slice(1)], value: 1, verdict: 'undecided' },
])('bar: it takes $is → $verdict', ({ placements, value, verdict }) => {
  expect(barsOf(placements)).toEqual([
    expect.objectContaining({ name: 'prelim-vs-rtt', value, floor: null, aim: 1.15, verdict }),
  ]);
});

test('bar: beside a server that is near, a round trip counts as a millisecond', () => {
  const near = Array.from({ length: 7 }, () => ({ ...round(0), roundTripMs: 0.1, preliminaryMs: 1.6 }));
  expect(barsOf([near])).toEqual([expect.objectContaining({ value: 0.6, verdict: 'met' })]);
});

test.each([
  { is: 'a round trip', trips: [1], count: 7 },
  { is: 'now that, now too long', trips: [1, 1.3], count: 14 },
])('rounds: it takes $is → $count rounds of 7 to 14', async ({ trips, count }) => {
  const asked: string[] = [];
  const placement = (name: string, of: readonly number[]): Timed => {
    let at = 0;
    return {
      awayMs: 40,
      async measure(operations) {
        asked.push(`${name} ${operations}`);
        return round(of[at++ % of.length] as number);
      },
    };
  };
  const placements = [placement('near', [1]), placement('far', trips)];
  const measured = await measureRounds(placements, { rounds: 7, operations: 3 }, () => {});
  expect(measured.map((each) => each.length)).toEqual([count, count]);
  expect(asked.slice(0, 4)).toEqual(['near 3', 'far 3', 'far 3', 'near 3']);
  expect(measured[1]?.slice(0, 2)).toEqual([round(1), round(trips.at(-1) as number)]);
});
