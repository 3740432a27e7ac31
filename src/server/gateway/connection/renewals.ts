/** Fresh tokens on a live connection: checked one at a time and not too often, the newest last. */
import type { Clock } from '../../../correctable/clock.ts';
import { RateLimit } from '../limits/rate-limit.ts';
import type { TokenVerdict } from './token-check.ts';

/** Each check may cost the server a signature, or a call elsewhere. */
const CHECKS_PER_SECOND_MAX = 4;

/** The fresh tokens of one connection. */
export class Renewals {
  readonly #check: (token: string) => Promise<TokenVerdict>;
  readonly #decided: (verdict: TokenVerdict) => void;
  readonly #clock: Clock;
  readonly #rate: RateLimit;
  #isBusy = false;
  #isOver = false;
  #next: string | undefined;

  constructor(check: (token: string) => Promise<TokenVerdict>, decided: (verdict: TokenVerdict) => void, clock: Clock) {
    this.#check = check;
    this.#decided = decided;
    this.#clock = clock;
    this.#rate = new RateLimit(CHECKS_PER_SECOND_MAX, clock.now());
  }

  /** Of several that come before one can be checked, only the last counts. */
  renew(token: string): void {
    if (this.#isOver) return;
    if (this.#isBusy) {
      this.#next = token;
      return;
    }
    this.#isBusy = true;
    const waitMs = this.#rate.take(this.#clock.now());
    if (waitMs > 0) {
      this.#next = token;
      this.#clock.setTimer(() => this.#goOn(), waitMs).hold?.(false);
      return;
    }
    void this.#check(token).then((verdict) => {
      this.#decided(verdict);
      this.#goOn();
    });
  }

  /** The connection has ended: what waits is not checked any more. */
  stop(): void {
    this.#isOver = true;
    this.#next = undefined;
  }

  #goOn(): void {
    this.#isBusy = false;
    const next = this.#next;
    this.#next = undefined;
    if (next !== undefined) this.renew(next);
  }
}
