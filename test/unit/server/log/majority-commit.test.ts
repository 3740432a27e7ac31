/** How many entries of a red log are committed, by how much of it each site holds. */
// @rule PART-M17
import { expect, test } from 'vitest';
import { computeCommittedLength } from '../../../../src/server/log/majority-commit.ts';
import type { Origin } from '../../../../src/server/service/records/origin.ts';

const [A, B, C, D] = [1, 2, 3, 4] as unknown as [Origin, Origin, Origin, Origin];
const HELD = new Map([
  [A, 2],
  [B, 5],
  [C, 7],
  [D, 9],
]);

test.each([
  ['no change → what a majority holds', [A, B, C], [], 5],
  [
    'a site is removed → up to the change, what a majority with it holds',
    [A, B, C],
    [{ position: 3, closes: [B] }],
    3,
  ],
  [
    'a site that holds less is removed → what a majority of the others holds',
    [A, B, C],
    [{ position: 4, closes: [A] }],
    5,
  ],
  [
    'the only voter is removed → what the voters behind it hold',
    [A],
    [{ position: 3, closes: [A], voters: [B, D] }],
    5,
  ],
  [
    'the only voter is removed, and no other one is named → what it holds itself',
    [A],
    [{ position: 3, closes: [A] }],
    2,
  ],
  [
    'one of two voters is removed → what the other one holds',
    [A, C],
    [{ position: 3, closes: [A], voters: [C, D] }],
    7,
  ],
] as const)('%s', (_, voters, changes, expected) => {
  expect(computeCommittedLength(voters, changes, (site) => HELD.get(site) ?? 0)).toBe(expected);
});
