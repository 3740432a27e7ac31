/**
 * The history of a run, and its check. A follow writes two rows, which are in two regions if its
 * users are. No strong read may show one row with it and the other one without it.
 */
import type { Profile } from './contract.ts';

/** A follow or unfollow that has changed something. Times are of one clock. */
export interface FollowChange {
  readonly follower: string;
  readonly followed: string;
  readonly isFollowing: boolean;
  readonly startMs: number;
  /** `undefined` if no answer has come. */
  readonly endMs: number | undefined;
}

/** A strong read of several profiles. */
export interface ProfilesRead {
  readonly profiles: readonly Profile[];
  readonly startMs: number;
  readonly endMs: number;
}

export interface History {
  readonly changes: readonly FollowChange[];
  readonly reads: readonly ProfilesRead[];
}

/** Two users of whom one follows the other, at a read that is wrong about them. */
export interface WrongPair {
  readonly follower: string;
  readonly followed: string;
  readonly read: ProfilesRead;
}

/** Returns the pairs of a read of which one row has the follow, and the other one has not. */
export function findHalfFollows(read: ProfilesRead): readonly WrongPair[] {
  return pairsOf(read)
    .filter(
      ({ follower, followed }) =>
        follower.follows.includes(followed.user) !== isFollowedBy(followed, follower),
    )
    .map((pair) => toWrongPair(pair, read));
}

/**
 * Returns the pairs of which a strong read does not show the last change that was confirmed before
 * it. Pairs that another change may have changed meanwhile are left out.
 */
export function findMissedFollows({ changes, reads }: History): readonly WrongPair[] {
  return reads.flatMap((read) =>
    pairsOf(read)
      .filter(({ follower, followed }) => {
        const ofPair = changes.filter(
          (item) => item.follower === follower.user && item.followed === followed.user,
        );
        const expected = findExpected(ofPair, read);
        return expected !== undefined && follower.follows.includes(followed.user) !== expected;
      })
      .map((pair) => toWrongPair(pair, read)),
  );
}

/** Whether the pair has to follow at the read; `undefined` if that is not certain. */
function findExpected(
  changes: readonly FollowChange[],
  { startMs, endMs }: ProfilesRead,
): boolean | undefined {
  const [last] = changes
    .filter((change) => getEndMs(change) <= startMs)
    .toSorted((a, b) => b.startMs - a.startMs);
  if (last === undefined) return undefined;
  const isAlone = changes.every(
    (change) => change === last || getEndMs(change) <= last.startMs || change.startMs > endMs,
  );
  return isAlone ? last.isFollowing : undefined;
}

/** A change without an answer may still come. */
function getEndMs({ endMs }: FollowChange): number {
  return endMs ?? Infinity;
}

interface Pair {
  readonly follower: Profile;
  readonly followed: Profile;
}

function pairsOf({ profiles }: ProfilesRead): readonly Pair[] {
  return profiles.flatMap((follower) =>
    profiles
      .filter((followed) => followed !== follower)
      .map((followed) => ({ follower, followed })),
  );
}

function isFollowedBy({ followers }: Profile, { user }: Profile): boolean {
  return followers.includes(user);
}

function toWrongPair({ follower, followed }: Pair, read: ProfilesRead): WrongPair {
  return { follower: follower.user, followed: followed.user, read };
}
