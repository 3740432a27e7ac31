/** Fresh tokens on a live connection: checked one at a time, the newest last. */
import type { Principal } from './host.ts';

/** What the connection does about a fresh token. */
export interface RenewalPorts {
  identify(token: string): Promise<Principal>;
  accepted(principal: Principal): void;
  refused(error: unknown): void;
}

/** The fresh tokens of one connection. */
export class Renewals {
  readonly #ports: RenewalPorts;
  #isChecking = false;
  #next: string | undefined;

  constructor(ports: RenewalPorts) {
    this.#ports = ports;
  }

  /** Of several that come while one is checked, only the last counts. */
  check(token: string): void {
    if (this.#isChecking) {
      this.#next = token;
      return;
    }
    this.#isChecking = true;
    this.#ports
      .identify(token)
      .then(
        (principal) => this.#ports.accepted(principal),
        (error: unknown) => this.#ports.refused(error),
      )
      .finally(() => {
        this.#isChecking = false;
        const next = this.#next;
        this.#next = undefined;
        if (next !== undefined) this.check(next);
      });
  }
}
