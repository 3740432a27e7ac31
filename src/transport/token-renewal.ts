/** Sends a fresh token before the present one ends, so that a long connection need not be opened again. */
import type { ConnectionSettings } from './options.ts';

/** Longer delays than this overflow a timer. */
const TIMER_MS_MAX = 2 ** 31 - 1;
/** When to renew, as a share of the time that a token lasts. */
const RENEW_AFTER = 0.75;

/** What comes of a renewal. */
export interface RenewalEvents {
  renewed(token: string): void;
  /** No fresh token could be had. */
  failed(cause: unknown): void;
}

/** One timer per connection. */
export class TokenRenewal {
  readonly #settings: Pick<ConnectionSettings, 'token' | 'scheduling'>;
  readonly #events: RenewalEvents;
  #cancel: (() => void) | undefined;
  #round = 0;

  constructor(settings: Pick<ConnectionSettings, 'token' | 'scheduling'>, events: RenewalEvents) {
    this.#settings = settings;
    this.#events = events;
  }

  /** The present token lasts for so long; `undefined`: for ever. */
  expect(expiresInMs: number | undefined): void {
    this.stop();
    if (expiresInMs === undefined) return;
    const delayMs = Math.min(expiresInMs * RENEW_AFTER, TIMER_MS_MAX);
    this.#cancel = this.#settings.scheduling.setTimer(() => this.#renew(), delayMs);
  }

  stop(): void {
    this.#round++;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #renew(): void {
    const round = this.#round;
    Promise.resolve()
      .then(() => this.#settings.token())
      .then((token) => {
        if (round === this.#round && token !== undefined) this.#events.renewed(token);
      })
      .catch((cause: unknown) => {
        if (round === this.#round) this.#events.failed(cause);
      });
  }
}
