/** The tokens of a connection: checks new ones, and ends the connection when its token ends. */
import { CloseCode } from '../../../protocol/close-codes.ts';
import { isUndecided } from '../operations/call-hook.ts';
import type { GatewayContext, Peer, Principal } from '../context/gateway-context.ts';
import { hasEnded } from '../context/principal.ts';
import { systemClock, type Clock, type Timer } from '../../../correctable/clock.ts';
import { RateLimit } from '../limits/rate-limit.ts';

/** Ends a connection when its token ends, unless the token was renewed. */
export class TokenExpiry {
  readonly #onExpired: () => void;
  #principal: Principal | undefined;
  #endsAt = Infinity;
  #timer: Timer | undefined;

  constructor(onExpired: () => void) {
    this.#onExpired = onExpired;
  }

  /**
   * Sets a timer for the end of this principal's token. Returns how long that is in milliseconds,
   * `undefined` if it never ends.
   */
  schedule(principal: Principal): number | undefined {
    this.stop();
    this.#principal = principal;
    const leftMs = Math.max(0, Math.floor((principal.expiresAt ?? Infinity) - Date.now()));
    this.#endsAt = systemClock.now() + leftMs;
    if (!Number.isSafeInteger(leftMs)) return undefined;
    this.#timer = systemClock.setTimer(this.#onExpired, leftMs);
    return leftMs;
  }

  /**
   * Whether the token has expired by the monotonic clock or by the machine's clock. The timer may
   * be late, and the machine's clock may have been set.
   */
  get hasEnded(): boolean {
    if (this.#endsAt === Infinity) return false;
    return (
      systemClock.now() >= this.#endsAt ||
      (this.#principal !== undefined && hasEnded(this.#principal))
    );
  }

  stop(): void {
    this.#timer?.cancel();
  }
}

/** The maximum rate of checks. A check may verify a signature or call another service. */
const MAX_CHECKS_PER_SECOND = 4;

/**
 * The new tokens of one connection. They are checked one at a time and not too often, and the
 * newest counts.
 */
export class TokenRenewals {
  readonly #check: (token: string) => Promise<TokenVerdict>;
  readonly #onDecided: (verdict: TokenVerdict) => void;
  readonly #clock: Clock;
  readonly #rate: RateLimit;
  #isBusy = false;
  #isOver = false;
  #next: string | undefined;

  constructor(
    check: (token: string) => Promise<TokenVerdict>,
    decided: (verdict: TokenVerdict) => void,
    clock: Clock,
  ) {
    this.#check = check;
    this.#onDecided = decided;
    this.#clock = clock;
    this.#rate = new RateLimit(MAX_CHECKS_PER_SECOND, clock.now());
  }

  /** If several tokens come before one can be checked, only the last is checked. */
  renew(token: string): void {
    if (this.#isOver) return;
    if (this.#isBusy) {
      this.#next = token;
      return;
    }
    this.#isBusy = true;
    const waitMs = this.#rate.tryTake(this.#clock.now());
    if (waitMs > 0) {
      this.#next = token;
      this.#clock.setTimer(() => this.#checkNext(), waitMs).setRef?.(false);
      return;
    }
    void this.#check(token).then((verdict) => {
      this.#onDecided(verdict);
      this.#checkNext();
    });
  }

  /** Called when the connection has ended. Waiting tokens are not checked any more. */
  stop(): void {
    this.#isOver = true;
    this.#next = undefined;
  }

  #checkNext(): void {
    this.#isBusy = false;
    const next = this.#next;
    this.#next = undefined;
    if (next !== undefined) this.renew(next);
  }
}

export type TokenVerdict = { readonly principal: Principal } | TokenRejection;

/** The code with which the connection is closed, and the reason. */
export interface TokenRejection {
  readonly code: number;
  readonly reason: string;
  /** Whether the check could not decide. Then the token is not rejected. */
  readonly isUndecided: boolean;
}

/** The verdict on a token that has expired. The client may connect again with another token. */
export const EXPIRED_TOKEN: TokenRejection = {
  code: CloseCode.expired,
  reason: 'the token has expired',
  isUndecided: false,
};

/** Checks a token. The reason of a rejection is logged, never thrown. */
export async function checkToken(
  context: GatewayContext,
  token: string | undefined,
  peer: Peer,
): Promise<TokenVerdict> {
  try {
    const principal = await context.identify(token, peer);
    return hasEnded(principal) ? EXPIRED_TOKEN : { principal };
  } catch (error) {
    if (isUndecided(error)) {
      context.logger.warn({ err: error, ...peer }, 'authenticate failed to identify a client');
      return {
        code: CloseCode.internal,
        reason: 'the token could not be checked',
        isUndecided: true,
      };
    }
    context.logger.info({ err: error, ...peer }, 'a client was not authenticated');
    return {
      code: CloseCode.unauthenticated,
      reason: 'the token was refused',
      isUndecided: false,
    };
  }
}
