/**
 * Sends a fresh token before the present one expires, so that a long connection need not be opened
 * again.
 */
import { exponentialBackoff } from '../../correctable/backoff.ts';
import type { Credentials } from '../options/guard-callbacks.ts';
import type { Scheduling } from '../options/scheduling.ts';

/** When to renew, as a share of the lifetime of a token. */
const RENEW_AFTER_RATIO = 0.75;
/**
 * The minimum time between two renewals, even if a server reports a shorter lifetime of the token.
 */
const MIN_RENEW_INTERVAL_MS = 50;

export interface RenewalEvents {
  onRenewed(credentials: Credentials): void;
  /**
   * Called when no fresh token was received. The renewal is retried until the present token
   * expires.
   */
  onFailed(cause: unknown): void;
}

export interface TokenRenewalOptions {
  readonly credentials: () => Promise<Credentials>;
  readonly scheduling: Scheduling;
}

export class TokenRenewal {
  readonly #options: TokenRenewalOptions;
  readonly #events: RenewalEvents;
  readonly #backoff = exponentialBackoff();
  #cancel: (() => void) | undefined;
  /** Counts the renewals. A reply to an earlier renewal is ignored. */
  #round = 0;
  #failures = 0;
  #endsAt = 0;

  constructor(options: TokenRenewalOptions, events: RenewalEvents) {
    this.#options = options;
    this.#events = events;
  }

  /**
   * Schedules the renewal for a token that lasts this long. `undefined` means that it does not
   * expire.
   */
  scheduleRenewal(expiresInMs: number | undefined): void {
    this.stop();
    if (expiresInMs === undefined) return;
    this.#failures = 0;
    this.#endsAt = this.#options.scheduling.now() + expiresInMs;
    this.#setRenewTimer(Math.max(expiresInMs * RENEW_AFTER_RATIO, MIN_RENEW_INTERVAL_MS));
  }

  stop(): void {
    this.#round++;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #setRenewTimer(delayMs: number): void {
    this.#cancel = this.#options.scheduling.setTimer(() => this.#renew(), delayMs);
  }

  #renew(): void {
    const round = this.#round;
    this.#options.credentials().then(
      (credentials) => {
        if (round === this.#round) this.#events.onRenewed(credentials);
      },
      (cause: unknown) => {
        if (round === this.#round) this.#handleFailure(cause);
      },
    );
  }

  #handleFailure(cause: unknown): void {
    this.#events.onFailed(cause);
    const delayMs = this.#backoff.delayMs(++this.#failures, Math.random) ?? Infinity;
    // When the present token expires, the server closes the connection, and the next connection
    // requests a token itself.
    if (this.#options.scheduling.now() + delayMs < this.#endsAt) this.#setRenewTimer(delayMs);
  }
}
