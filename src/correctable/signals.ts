/**
 * Following an `AbortSignal` with one listener on it, however many operations share it, and none once they are over
 * (C10).
 */

/** Who is told when the signal aborts. */
export interface Follower {
  onAbort(reason: unknown): void;
}

const groups = /* @__PURE__ */ new WeakMap<AbortSignal, SignalGroup>();

class SignalGroup {
  readonly #signal: AbortSignal;
  readonly #followers = new Set<Follower>();
  readonly #listener = (): void => this.#tellAll();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(follower: Follower): void {
    if (this.#followers.size === 0) this.#signal.addEventListener('abort', this.#listener);
    this.#followers.add(follower);
  }

  remove(follower: Follower): void {
    if (this.#followers.delete(follower) && this.#followers.size === 0) {
      this.#signal.removeEventListener('abort', this.#listener);
    }
  }

  #tellAll(): void {
    for (const follower of this.#followers) {
      this.remove(follower);
      follower.onAbort(this.#signal.reason);
    }
  }
}

/** Tells `follower` when `signal`, which has not aborted yet, aborts. */
export function follow(signal: AbortSignal, follower: Follower): void {
  let group = groups.get(signal);
  if (group === undefined) {
    group = new SignalGroup(signal);
    groups.set(signal, group);
  }
  group.add(follower);
}

export function unfollow(signal: AbortSignal, follower: Follower): void {
  groups.get(signal)?.remove(follower);
}
