/** Selects the site to connect to: the nearest one, until it cannot be reached. */
import { guardReconnect } from './options/guard-callbacks.ts';
import type { Backoff } from '../correctable/backoff.ts';
import type { Scheduling } from './options/scheduling.ts';

export class SitePool {
  readonly #urls: readonly string[];
  #index = 0;
  #lossCount = 0;
  #isLeaving = false;
  #missingCount = 0;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  get url(): string {
    return this.#urls[this.#index] as string;
  }

  /** The URL for error messages. It omits the query, which may be confidential. */
  get label(): string {
    return this.url.replace(/\?.*/, '');
  }

  /** Notes that the connection to the site has held for a while, so earlier losses do not count. */
  recordStable(): void {
    this.#lossCount = 0;
  }

  /**
   * Selects another site for the next attempt, because this site is shutting down or does not
   * answer.
   */
  leaveSite(): void {
    this.#isLeaving = true;
  }

  /**
   * Records whether the server at the present address lacks the site. Returns whether it does, and
   * another address may have it.
   */
  recordMissing(isMissing: boolean): boolean {
    this.#missingCount = isMissing ? this.#missingCount + 1 : 0;
    return isMissing && this.#missingCount < this.#urls.length;
  }

  /**
   * Selects the site of the next attempt. After one lost connection this is the same site, because
   * a move costs time. Otherwise it is the next site.
   */
  recordFailure(wasOpen: boolean): void {
    this.#lossCount++;
    if (wasOpen && this.#lossCount === 1 && !this.#isLeaving) return;
    this.#index = (this.#index + 1) % this.#urls.length;
    this.#lossCount = 0;
    this.#isLeaving = false;
  }
}

/**
 * A connection counts as stable after this time. Otherwise a server that welcomes and drops clients
 * would get attempts without a pause.
 */
const STABLE_AFTER_MS = 5_000;

export interface ReconnectBackoffOptions {
  readonly scheduling: Scheduling;
  readonly reconnect: Backoff;
  readonly random: () => number;
}

/** Counts the consecutive failures of one client. */
export class ReconnectBackoff {
  readonly #now: () => number;
  readonly #getDelayMs: (attempt: number) => number | undefined;
  #failures = 0;
  #welcomedAt: number | undefined;

  constructor({ scheduling, reconnect, random }: ReconnectBackoffOptions) {
    this.#now = () => scheduling.now();
    this.#getDelayMs = guardReconnect(reconnect, random);
  }

  recordWelcome(): void {
    this.#welcomedAt = this.#now();
  }

  /**
   * Resets the failures if the connection that has just ended was stable. Returns whether it was.
   */
  resetIfStable(): boolean {
    const retained =
      this.#welcomedAt !== undefined && this.#now() - this.#welcomedAt >= STABLE_AFTER_MS;
    this.#welcomedAt = undefined;
    if (retained) this.#failures = 0;
    return retained;
  }

  /** Returns the delay after a failure in milliseconds, or `undefined` to give up. */
  getNextDelayMs(): number | undefined {
    this.#failures++;
    return this.#getDelayMs(this.#failures);
  }

  /** Returns the delay if nothing failed. The first `times` in succession have none. */
  getNextDelayMsUnlessRepeated(times = 1): number | undefined {
    if (this.#failures >= times) return this.getNextDelayMs();
    this.#failures++;
    return 0;
  }
}
