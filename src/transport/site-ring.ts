/** Which of several sites to connect to: the nearest, until it cannot be reached. */

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
