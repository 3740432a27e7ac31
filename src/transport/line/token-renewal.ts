/** Sends a fresh token before the present one ends, so that a long connection need not be opened again. */
import { exponentialBackoff } from '../../correctable/backoff.ts';
import type { Credentials } from '../settings/callbacks.ts';
import type { ConnectionSettings } from '../settings/options.ts';

/** When to renew, as a share of the time that a token lasts. */
const RENEW_AFTER = 0.75;
/** The least time between two renewals, however short a server says that a token lasts. */
const RENEW_AFTER_MS_MIN = 50;

/** What comes of a renewal. */
export interface RenewalEvents {
  renewed(credentials: Credentials): void;
  /** No fresh token could be had; it is tried again until the present one ends. */
  failed(cause: unknown): void;
}

/** One timer per connection. */
export class TokenRenewal {
  readonly #settings: Pick<ConnectionSettings, 'credentials' | 'scheduling'>;
  readonly #events: RenewalEvents;
  readonly #backoff = exponentialBackoff();
  #cancel: (() => void) | undefined;
  /** Tells what comes too late. */
  #round = 0;
  #failures = 0;
  #endsAt = 0;

  constructor(settings: Pick<ConnectionSettings, 'credentials' | 'scheduling'>, events: RenewalEvents) {
    this.#settings = settings;
    this.#events = events;
  }

  /** The present token lasts for so long; `undefined`: for ever. */
  expect(expiresInMs: number | undefined): void {
    this.stop();
    if (expiresInMs === undefined) return;
    this.#failures = 0;
    this.#endsAt = this.#settings.scheduling.now() + expiresInMs;
    this.#renewIn(Math.max(expiresInMs * RENEW_AFTER, RENEW_AFTER_MS_MIN));
  }

  stop(): void {
    this.#round++;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #renewIn(delayMs: number): void {
    this.#cancel = this.#settings.scheduling.setTimer(() => this.#renew(), delayMs);
  }

  #renew(): void {
    const round = this.#round;
    this.#settings.credentials().then(
      (credentials) => {
        if (round === this.#round) this.#events.renewed(credentials);
      },
      (cause: unknown) => {
        if (round === this.#round) this.#failed(cause);
      },
    );
  }

  #failed(cause: unknown): void {
    this.#events.failed(cause);
    const delayMs = this.#backoff.delayMs(++this.#failures, Math.random) ?? Infinity;
    // After its end the server closes the connection, and the next one asks for a token itself.
    if (this.#settings.scheduling.now() + delayMs < this.#endsAt) this.#renewIn(delayMs);
  }
}
