/**
 * Following an `AbortSignal` with one listener on it, however many operations share it, and none once they are over
 * (C10).
 */

/** Who is told when the signal aborts. */
export interface Follower {
  onAbort(reason: unknown): void;
}

const groups = /* @__PURE__ */ new WeakMap<AbortSignal, Set<Follower>>();

/** Tells `follower` when `signal`, which has not aborted yet, aborts. */
export function follow(signal: AbortSignal, follower: Follower): void {
  const followers = groups.get(signal) ?? new Set();
  if (followers.size === 0) {
    groups.set(signal, followers);
    signal.addEventListener('abort', tellFollowers);
  }
  followers.add(follower);
}

export function unfollow(signal: AbortSignal, follower: Follower): void {
  const followers = groups.get(signal);
  if (followers?.delete(follower) === true && followers.size === 0) signal.removeEventListener('abort', tellFollowers);
}

function tellFollowers(this: AbortSignal): void {
  for (const follower of groups.get(this) ?? []) {
    unfollow(this, follower);
    follower.onAbort(this.reason);
  }
}
