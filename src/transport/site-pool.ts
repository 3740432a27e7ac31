/** Which of several sites to connect to: the nearest, until it cannot be reached. */
import { guardReconnect } from './options/guard-callbacks.ts';
import type { ResolvedConnectionOptions } from './options/options.ts';

/** The addresses of the sites, in order of preference. */
export class SitePool {
  readonly #urls: readonly string[];
  #index = 0;
  #lossCount = 0;
  #isLeaving = false;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  /** The address to use now. */
  get url(): string {
    return this.#urls[this.#index] as string;
  }

  /** The connection to the site has held for a while: earlier losses do not count. */
  recordStable(): void {
    this.#lossCount = 0;
  }

  /** The site is about to go, or does not answer: the next attempt is for another. */
  leaveSite(): void {
    this.#isLeaving = true;
  }

  /**
   * There will be another attempt. A connection that was lost is tried once more at the same site, since moving costs
   * the operations in flight more than a moment; a site that could not be reached is left.
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
 * A connection that has held for so long counts as one that worked. Being welcomed is not enough: a server that welcomes
 * a client only to lose it again would be retried and again without a pause.
 */
const STABLE_AFTER_MS = 5_000;

/** Counts the failures of one client in a row. */
export class ReconnectBackoff {
  readonly #now: () => number;
  readonly #getDelayMs: (attempt: number) => number | undefined;
  #failures = 0;
  #welcomedAt: number | undefined;

  constructor({
    scheduling,
    reconnect,
    random,
  }: Pick<ResolvedConnectionOptions, 'scheduling' | 'reconnect' | 'random'>) {
    this.#now = () => scheduling.now();
    this.#getDelayMs = guardReconnect(reconnect, random);
  }

  recordWelcome(): void {
    this.#welcomedAt = this.#now();
  }

  /** Whether the connection that has just ended had held for a while: what went wrong before it is forgotten then. */
  resetIfStable(): boolean {
    const retained = this.#welcomedAt !== undefined && this.#now() - this.#welcomedAt >= STABLE_AFTER_MS;
    this.#welcomedAt = undefined;
    if (retained) this.#failures = 0;
    return retained;
  }

  /** The delay after a failure, in milliseconds; `undefined` to give up. */
  getNextDelayMs(): number | undefined {
    this.#failures++;
    return this.#getDelayMs(this.#failures);
  }

  /** The delay where nothing failed: none for the first `times` in a row. */
  getNextDelayMsUnlessRepeated(times = 1): number | undefined {
    if (this.#failures >= times) return this.getNextDelayMs();
    this.#failures++;
    return 0;
  }
}
