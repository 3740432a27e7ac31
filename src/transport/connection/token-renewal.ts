/**
 * Sends a fresh token before the present one ends, so that a long connection
 * need not be opened again.
 */
import { exponentialBackoff } from '../../correctable/backoff.ts';
import type { Credentials } from '../options/guard-callbacks.ts';
import type { ResolvedConnectionOptions } from '../options/options.ts';

/** When to renew, as a share of the time that a token lasts. */
const RENEW_AFTER_RATIO = 0.75;
/**
 * The least time between two renewals, however short a server says that a token
 * lasts.
 */
const MIN_RENEW_INTERVAL_MS = 50;

export interface RenewalEvents {
  onRenewed(credentials: Credentials): void;
  /**
   * No fresh token could be had; it is tried again until the present one ends.
   */
  onFailed(cause: unknown): void;
}

export class TokenRenewal {
  readonly #options: Pick<
    ResolvedConnectionOptions,
    'credentials' | 'scheduling'
  >;
  readonly #events: RenewalEvents;
  readonly #backoff = exponentialBackoff();
  #cancel: (() => void) | undefined;
  /** Identifies answers that come too late. */
  #round = 0;
  #failures = 0;
  #endsAt = 0;

  constructor(
    settings: Pick<ResolvedConnectionOptions, 'credentials' | 'scheduling'>,
    events: RenewalEvents,
  ) {
    this.#options = settings;
    this.#events = events;
  }

  /** The present token lasts for so long; `undefined`: for ever. */
  scheduleRenewal(expiresInMs: number | undefined): void {
    this.stop();
    if (expiresInMs === undefined) return;
    this.#failures = 0;
    this.#endsAt = this.#options.scheduling.now() + expiresInMs;
    this.#setRenewTimer(
      Math.max(expiresInMs * RENEW_AFTER_RATIO, MIN_RENEW_INTERVAL_MS),
    );
  }

  stop(): void {
    this.#round++;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #setRenewTimer(delayMs: number): void {
    this.#cancel = this.#options.scheduling.setTimer(
      () => this.#renew(),
      delayMs,
    );
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
    const delayMs =
      this.#backoff.delayMs(++this.#failures, Math.random) ?? Infinity;
    // After its end the server closes the connection, and the next one asks for
    // a token itself.
    if (this.#options.scheduling.now() + delayMs < this.#endsAt)
      this.#setRenewTimer(delayMs);
  }
}
