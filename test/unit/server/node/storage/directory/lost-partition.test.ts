/**
 * Sites that have lost a part of the red log of a partition, so that they cannot start with the
 * others.
 */
import { expect, test } from 'vitest';
import { rejectMissingHistories } from '../../../../../../src/server/node/storage/directory/missing-history.ts';

const NAMES = ['ireland', 'virginia'];
const LEADERS = { redLeader: 'ireland', partitions: [{ name: 'us', leader: 'virginia' }] };

/**
 * A site with so many entries of the log of `us`, of which it can send those from `retainedFrom`
 * on.
 */
const holdingOf = (count: number, retainedFrom: number) => ({
  streams: [],
  red: { count: 5, retainedFrom: 1 },
  partitions: [{ count, retainedFrom }],
});

test.each([
  ['as many entries', 4, 1, 4, 1, undefined],
  ['a follower with fewer, which the leader keeps', 2, 1, 4, 3, undefined],
  [
    'a leader with fewer',
    4,
    1,
    3,
    1,
    /ireland has 4 entries of the red log of us, and virginia, which leads it, has 3/,
  ],
  [
    'a follower that lacks what the leader dropped',
    1,
    1,
    4,
    3,
    /ireland has 1 entries of the red log of us, .* from 3 on/,
  ],
])('%s', (_, followerCount, followerFrom, leaderCount, leaderFrom, problem) => {
  const holdings = [holdingOf(followerCount, followerFrom), holdingOf(leaderCount, leaderFrom)];
  const check = (): void => rejectMissingHistories(holdings, NAMES, LEADERS);
  if (problem === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(problem);
});

test('a site without an entry of the log → none are missing that the leader keeps', () => {
  const empty = { streams: [], red: { count: 5, retainedFrom: 1 } };
  expect(() => rejectMissingHistories([empty, holdingOf(3, 1)], NAMES, LEADERS)).not.toThrow();
  expect(() => rejectMissingHistories([empty, holdingOf(3, 2)], NAMES, LEADERS)).toThrow(
    /has 0 entries/,
  );
});
