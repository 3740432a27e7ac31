/** Which of several sites to connect to: the nearest, until it cannot be reached. */
import { guardedReconnect } from './settings/callbacks.ts';
import type { ConnectionSettings } from './settings/options.ts';

/** The addresses of the sites, in order of preference. */
export class SiteRing {
  readonly #urls: readonly string[];
  #at = 0;
  #losses = 0;
  #leave = false;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  /** The address to use now. */
  get url(): string {
    return this.#urls[this.#at] as string;
  }

  /** The connection to the site has held for a while: earlier losses do not count. */
  held(): void {
    this.#losses = 0;
  }

  /** The site is about to go, or does not answer: the next attempt is for another. */
  leaving(): void {
    this.#leave = true;
  }

  /**
   * There will be another attempt. A connection that was lost is tried once more at the same site, since moving costs
   * the operations under way more than a moment; a site that could not be reached is left.
   */
  failed(wasOpen: boolean): void {
    this.#losses++;
    if (wasOpen && this.#losses === 1 && !this.#leave) return;
    this.#at = (this.#at + 1) % this.#urls.length;
    this.#losses = 0;
    this.#leave = false;
  }
}

/**
 * A connection that has held for so long counts as one that worked. Being welcomed is not enough: a server that welcomes
 * a client only to lose it again would be asked again and again without a pause.
 */
const HELD_MS = 5_000;

/** Counts the failures of one client in a row. */
export class Comeback {
  readonly #now: () => number;
  readonly #delayMs: (attempt: number) => number | undefined;
  #failures = 0;
  #welcomedAt: number | undefined;

  constructor({ scheduling, reconnect, random }: Pick<ConnectionSettings, 'scheduling' | 'reconnect' | 'random'>) {
    this.#now = () => scheduling.now();
    this.#delayMs = guardedReconnect(reconnect, random);
  }

  welcomed(): void {
    this.#welcomedAt = this.#now();
  }

  /** Whether the connection that has just ended had held for a while: what went wrong before it is forgotten then. */
  forgive(): boolean {
    const held = this.#welcomedAt !== undefined && this.#now() - this.#welcomedAt >= HELD_MS;
    this.#welcomedAt = undefined;
    if (held) this.#failures = 0;
    return held;
  }

  /** The delay after a failure, in milliseconds; `undefined` to give up. */
  delayMs(): number | undefined {
    this.#failures++;
    return this.#delayMs(this.#failures);
  }

  /** The delay where nothing failed: none for the first `times` in a row. */
  delayMsUnlessRepeated(times = 1): number | undefined {
    if (this.#failures >= times) return this.delayMs();
    this.#failures++;
    return 0;
  }
}
