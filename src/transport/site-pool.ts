/**
 * Which of several sites to connect to: the nearest, until it cannot be
 * reached.
 */
import { guardReconnect } from './options/guard-callbacks.ts';
import type { ResolvedConnectionOptions } from './options/options.ts';

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

  /** The URL as errors name it. Its query may be confidential. */
  get label(): string {
    return this.url.replace(/\?.*/, '');
  }

  /**
   * The connection to the site has held for a while: earlier losses do not
   * count.
   */
  recordStable(): void {
    this.#lossCount = 0;
  }

  /**
   * The site is about to go, or does not answer: the next attempt is for
   * another.
   */
  leaveSite(): void {
    this.#isLeaving = true;
  }

  /**
   * Records whether a server had no such site. Returns whether none of the
   * addresses has one.
   */
  recordMissing(isMissing: boolean): boolean {
    this.#missingCount = isMissing ? this.#missingCount + 1 : 0;
    return this.#missingCount >= this.#urls.length;
  }

  /**
   * Another attempt follows: at the same site after one lost connection, else
   * at the next. Moving costs time.
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
 * A connection counts as good after this time: a server that welcomes and drops
 * clients must not be hammered.
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

  /**
   * Whether the connection that has just ended had held for a while: what went
   * wrong before it is forgotten then.
   */
  resetIfStable(): boolean {
    const retained =
      this.#welcomedAt !== undefined &&
      this.#now() - this.#welcomedAt >= STABLE_AFTER_MS;
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
