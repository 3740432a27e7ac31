/** Ends a connection when its token does, unless that was renewed. */
import { systemClock, type Timer } from '../../../correctable/clock.ts';
import type { Principal } from '../host/host.ts';
import { hasEnded } from '../host/principal.ts';

/** One timer, set anew with every token. */
export class ClientExpiry {
  readonly #onExpired: () => void;
  #principal: Principal | undefined;
  #endsAt = Infinity;
  #timer: Timer | undefined;

  constructor(onExpired: () => void) {
    this.#onExpired = onExpired;
  }

  /** Waits for the end of this principal's token; returns how long that is, `undefined` if for ever. */
  expect(principal: Principal): number | undefined {
    this.stop();
    this.#principal = principal;
    const leftMs = Math.max(0, Math.floor((principal.expiresAt ?? Infinity) - Date.now()));
    this.#endsAt = systemClock.now() + leftMs;
    if (!Number.isSafeInteger(leftMs)) return undefined;
    this.#timer = systemClock.setTimer(this.#onExpired, leftMs);
    return leftMs;
  }

  /** Whether the token has ended, by either clock: the timer may be late, and the day may have been set anew. */
  get hasEnded(): boolean {
    if (this.#endsAt === Infinity) return false;
    return systemClock.now() >= this.#endsAt || (this.#principal !== undefined && hasEnded(this.#principal));
  }

  stop(): void {
    this.#timer?.cancel();
  }
}
