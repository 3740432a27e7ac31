/** What the leader knows of another site, and has sent to it. */

export interface Follower {
  /** The synced length of its log. It is unknown until it has answered. */
  matched: number | undefined;
  /** The length that it knows to be committed. */
  committed: number;
  sent: number;
  /** Its length, or an assumption until it answers. At most a window beyond it is sent. */
  baseLength: number;
  /**
   * The probe that was sent and is not answered. Nothing else is sent before the answer, or before
   * the follower has advanced.
   */
  probe: number | undefined;
  /** When it last advanced, or was last probed. */
  movedAtMs: number;
  /** The largest committed length that was sent to it. */
  announced: number;
  /** When it was last sent a committed length again that it had been sent. */
  repeatedAtMs: number;
}

/** It is unknown what a new follower has. It is assumed to have everything that is synced here. */
export function createFollower(syncedLength: number): Follower {
  return {
    matched: undefined,
    committed: 0,
    sent: syncedLength,
    baseLength: syncedLength,
    probe: undefined,
    movedAtMs: 0,
    announced: 0,
    repeatedAtMs: -Infinity,
  };
}

/**
 * Whether a follower may lack entries of a log of this length, or does not know that the first
 * `announced` ones are committed.
 */
export function isLagging(
  { matched, committed }: Follower,
  length: number,
  announced: number,
): boolean {
  if (length === 0) return false;
  return matched === undefined || matched < length || committed < announced;
}

/**
 * Whether to answer a follower that seems not to know what is committed. Most of its messages are
 * only older than the last announcement. If each one were answered, the answer to that might be too
 * old as well, and so on without end.
 */
export function mayAnnounceAgain(
  follower: Follower,
  committed: number,
  nowMs: number,
  { resendAfterMs }: { readonly resendAfterMs: number },
): boolean {
  if (follower.committed >= committed) return false;
  if (follower.announced < committed) return true;
  if (nowMs - follower.repeatedAtMs < resendAfterMs) return false;
  follower.repeatedAtMs = nowMs;
  return true;
}
