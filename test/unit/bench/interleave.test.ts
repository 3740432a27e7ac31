/** Everybody runs in every round, and rounds go on while more can tell more. */
import { expect, test } from 'vitest';
import { interleave } from '../../../bench/harness/interleave.ts';

function contenders(ran: string[]): { name: string; measure: () => number }[] {
  return ['a', 'b', 'c'].map((name) => ({ name, measure: () => ran.push(name) }));
}

const quiet = (): void => {};

test('rounds: each begins with another contender, warm-ups are thrown away', async () => {
  const ran: string[] = [];
  const samples = await interleave(contenders(ran), { rounds: 2, warmUps: 1, progress: quiet });
  expect(ran.join('')).toBe('abcbcacab');
  expect([...samples.values()].map((list) => list.length)).toEqual([2, 2, 2]);
});

test.each([
  { is: 'decided at once', decidedAt: 0, rounds: 3 },
  { is: 'decided in the fifth round', decidedAt: 5, rounds: 6 },
  { is: 'never decided', decidedAt: Infinity, rounds: 9 },
])('rounds: $is → $rounds of 3 to 9', async ({ decidedAt, rounds }) => {
  const told: string[] = [];
  const samples = await interleave(contenders([]), {
    rounds: 3,
    warmUps: 0,
    roundsMax: 9,
    isDecided: (soFar) => (soFar.get('a')?.length ?? 0) >= decidedAt,
    progress: (text) => told.push(text),
  });
  expect(samples.get('a')).toHaveLength(rounds);
  expect(told.at(2)).toBe('round 3 of 3');
  expect(told.at(3)).toBe(rounds > 3 ? 'round 4 of at most 9, until it is decided' : undefined);
});
