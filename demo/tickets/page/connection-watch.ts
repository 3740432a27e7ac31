/**
 * Watches which sites the page has lost. A sale continues at the other sites, and fails if all are
 * unreachable for long.
 */

/** How long all connections may be lost before the backend counts as lost, in milliseconds. */
const PATIENCE_MS = 6_000;

/** The states in which a connection is usable. */
const ONLINE: ReadonlySet<string> = new Set(['open', 'probing']);

export interface ConnectionWatchOptions {
  /** Called after every change of a site's connection. */
  readonly onChange: () => void;
  /** Called each time that all sites have been unreachable for `PATIENCE_MS`. */
  readonly onAllGone: () => void;
}

export class ConnectionWatch {
  readonly #options: ConnectionWatchOptions;
  readonly #online = new Set<string>();
  readonly #lost = new Set<string>();
  readonly #waiting = new Set<() => void>();
  #patience: ReturnType<typeof setInterval> | undefined;

  constructor(options: ConnectionWatchOptions) {
    this.#options = options;
  }

  isLost(site: string): boolean {
    return this.#lost.has(site);
  }

  /**
   * Takes note of a connection's new state. One that is closed on purpose is neither online nor
   * lost.
   */
  note(site: string, state: string): void {
    const isOnline = ONLINE.has(state);
    const isLost = !isOnline && state !== 'closing' && state !== 'closed';
    if (isOnline === this.#online.has(site) && isLost === this.#lost.has(site)) return;
    if (isOnline) this.#online.add(site);
    else this.#online.delete(site);
    if (isLost) this.#lost.add(site);
    else this.#lost.delete(site);
    this.#beImpatient();
    for (const check of this.#waiting) check();
    this.#options.onChange();
  }

  /** Resolves once one of `sites` is online, or `signal` aborts. */
  whenOnline(sites: readonly string[], signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!signal.aborted && !sites.some((site) => this.#online.has(site))) return;
        this.#waiting.delete(check);
        signal.removeEventListener('abort', check);
        resolve();
      };
      this.#waiting.add(check);
      signal.addEventListener('abort', check);
      check();
    });
  }

  #beImpatient(): void {
    const allGone = this.#online.size === 0 && this.#lost.size > 0;
    if (allGone === (this.#patience !== undefined)) return;
    clearInterval(this.#patience);
    this.#patience = allGone
      ? setInterval(() => this.#options.onAllGone(), PATIENCE_MS)
      : undefined;
  }
}
