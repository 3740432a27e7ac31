/**
 * Following an `AbortSignal` with one listener on it, however many operations share it, and none once they are over
 * (C10).
 */

/** Told the reason when the signal aborts. */
type Follower = (reason: unknown) => void;

const groups = /* @__PURE__ */ new WeakMap<AbortSignal, Set<Follower>>();

/** Tells `follower` when `signal`, which has not aborted yet, aborts. Returns what ends that. */
export function follow(signal: AbortSignal, follower: Follower): () => void {
  const followers = groups.get(signal) ?? new Set();
  if (followers.size === 0) {
    groups.set(signal, followers);
    signal.addEventListener('abort', tellFollowers);
  }
  followers.add(follower);
  return () => {
    if (followers.delete(follower) && followers.size === 0) signal.removeEventListener('abort', tellFollowers);
  };
}

function tellFollowers(this: AbortSignal): void {
  for (const follower of groups.get(this) ?? []) follower(this.reason);
}
