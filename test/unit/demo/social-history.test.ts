/**
 * The check of the social network's history: a half follow and a missed one are found, and nothing
 * else.
 */
import { expect, test } from 'vitest';
import {
  findHalfFollows,
  findMissedFollows,
  type FollowChange,
} from '../../../demo/social/history.ts';

const [ADA, EVE] = ['eu/ada', 'us/eve'] as const;

/** A read of both users, from 100 to 110 ms. */
function createRead({
  follows,
  isFollowed,
}: {
  readonly follows: boolean;
  readonly isFollowed: boolean;
}) {
  const ada = { user: ADA, follows: follows ? [EVE] : [], followers: [] };
  const eve = { user: EVE, follows: [], followers: isFollowed ? [ADA] : [] };
  return { profiles: [ada, eve], startMs: 100, endMs: 110 };
}

const WITH = createRead({ follows: true, isFollowed: true });
const WITHOUT = createRead({ follows: false, isFollowed: false });

function change(startMs: number, endMs: number | undefined, isFollowing = true): FollowChange {
  return { follower: ADA, followed: EVE, isFollowing, startMs, endMs };
}

test('a read with one row of a follow → it is found, in both directions', () => {
  for (const follows of [true, false]) {
    const read = createRead({ follows, isFollowed: !follows });
    expect(findHalfFollows(read)).toEqual([{ follower: ADA, followed: EVE, read }]);
  }
  expect([WITH, WITHOUT].flatMap(findHalfFollows)).toEqual([]);
});

test.each([
  ['confirmed before the read', [change(0, 50)], [WITHOUT]],
  ['the last of two', [change(0, 20, false), change(30, 50)], [WITHOUT]],
  ['ended again before the read', [change(0, 20), change(30, 50, false)], [WITH]],
  ['ended again after the read', [change(0, 50), change(120, 130, false)], [WITHOUT]],
  ['confirmed during the read', [change(60, 105)], []],
  ['without an answer', [change(60, undefined)], []],
  ['ended again during the read', [change(0, 50), change(90, 120, false)], []],
  ['at the same time as its end', [change(0, 50), change(10, 60, false)], []],
])('a follow %s → which reads are wrong', (_, changes, wrong) => {
  const found = findMissedFollows({ changes, reads: [WITH, WITHOUT] });
  expect(found.map(({ read }) => read)).toEqual(wrong);
});
