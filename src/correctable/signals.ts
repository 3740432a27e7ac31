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

/** A signal is made when it is first looked at, which costs more than most of a read: one that is as quick does not. */
export const LOOK_AFTER_MS = 20;

/** Whether nobody waits any more for what began at `sinceMs`, by `performance.now()`, and took its time. */
export function isLetGo(waiting: { readonly signal: AbortSignal }, sinceMs = 0): boolean {
  return performance.now() - sinceMs > LOOK_AFTER_MS && waiting.signal.aborted;
}
