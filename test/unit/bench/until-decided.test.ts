/** Rounds go on while a figure with a goal is undecided, up to a bound, and who looks twice pays for it. */
import { expect, test } from 'vitest';
import { atMost, estimate, reported } from '../../../bench/harness/bars.ts';
import { LOOKS, untilDecided } from '../../../bench/harness/until-decided.ts';

const bars = (samples: readonly number[]) => [
  atMost('bar', estimate(samples, LOOKS), { aim: 1 }),
  reported('another', estimate(samples, LOOKS)),
];

test.each([
  { is: 'decided at once', sampleOf: () => 2, rounds: 7 },
  { is: 'never decided', sampleOf: (round: number) => round % 2, rounds: 14 },
  { is: 'undecided, but not to be looked at again', sampleOf: (round: number) => 2 * (round % 2), looks: 1, rounds: 7 },
] as const)('rounds: $is → $rounds of 7 to 14', async ({ sampleOf, rounds, ...looks }) => {
  const told: string[] = [];
  const run = async (round: number, of: string): Promise<number> => {
    told.push(of);
    return sampleOf(round) * 1.5;
  };
  const samples = await untilDecided(run, { rounds: 7, ...looks, barsOf: bars });
  expect(samples).toHaveLength(rounds);
  expect(told[6]).toBe('round 7 of 7');
  expect(told[7]).toBe(rounds === 7 ? undefined : 'round 8 of at most 14, until it is decided');
});

test('rounds: they are looked at when all of them are there, and only then', async () => {
  const seen: number[] = [];
  const barsOf = (soFar: readonly number[]) => {
    seen.push(soFar.length);
    return bars(soFar);
  };
  await untilDecided(async (round) => 2 * (round % 2), { rounds: 8, barsOf });
  expect(seen).toEqual([8, 16]);
});
