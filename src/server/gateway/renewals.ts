/** Fresh tokens on a live connection: checked one at a time, the newest last. */
import type { TokenVerdict } from './token-check.ts';

/** The fresh tokens of one connection. */
export class Renewals {
  readonly #check: (token: string) => Promise<TokenVerdict>;
  readonly #decided: (verdict: TokenVerdict) => void;
  #isChecking = false;
  #next: string | undefined;

  constructor(check: (token: string) => Promise<TokenVerdict>, decided: (verdict: TokenVerdict) => void) {
    this.#check = check;
    this.#decided = decided;
  }

  /** Of several that come while one is checked, only the last counts. */
  renew(token: string): void {
    if (this.#isChecking) {
      this.#next = token;
      return;
    }
    this.#isChecking = true;
    void this.#check(token).then((verdict) => {
      this.#isChecking = false;
      this.#decided(verdict);
      const next = this.#next;
      this.#next = undefined;
      if (next !== undefined) this.renew(next);
    });
  }
}
