/** Which sites the page has lost, and for how long: a purchase survives a short loss, a sale does not survive a long one. */

/** How long a connection may be away before the backend counts as gone, in milliseconds. */
const PATIENCE_MS = 6_000;

/** A connection is of use in these states. */
const ONLINE: ReadonlySet<string> = new Set(['open', 'probing', 'draining']);

export interface ConnectionWatchOptions {
  /** Called after every change of `lost()`. */
  readonly onChange: () => void;
  /** Called once for each connection that stays away too long. */
  readonly onGone: (site: string) => void;
}

interface Loss {
  readonly site: string;
  readonly timer: ReturnType<typeof setTimeout>;
}

export class ConnectionWatch {
  readonly #options: ConnectionWatchOptions;
  /** By the retailer whose connection it is. */
  readonly #losses = new Map<number, Loss>();

  constructor(options: ConnectionWatchOptions) {
    this.#options = options;
  }

  /** The sites without a connection, each once. */
  lost(): readonly string[] {
    return [...new Set([...this.#losses.values()].map(({ site }) => site))];
  }

  /** Takes note of a connection's new state. */
  note(retailer: number, site: string, state: string): void {
    const loss = this.#losses.get(retailer);
    const isLost = !ONLINE.has(state) && state !== 'closing' && state !== 'closed';
    if (isLost === (loss !== undefined)) return;
    if (loss === undefined) {
      const timer = setTimeout(() => this.#options.onGone(site), PATIENCE_MS);
      this.#losses.set(retailer, { site, timer });
    } else {
      clearTimeout(loss.timer);
      this.#losses.delete(retailer);
    }
    this.#options.onChange();
  }
}
