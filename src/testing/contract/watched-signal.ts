/** A signal that knows who listens. */

type Listener = EventListenerOrEventListenerObject | null;

export class WatchedSignal {
  readonly signal: AbortSignal;
  readonly #listening = new Set<Listener>();
  #onReleased: (() => void) | undefined;

  constructor() {
    const { signal } = new AbortController();
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (type: string, listener: Listener, options?: boolean | AddEventListenerOptions) => {
      if (listener === null) return;
      add(type, listener, options);
      if (!isOfPlatform(new Error('who listens').stack)) this.#listen(listener, options);
    };
    signal.removeEventListener = (type: string, listener: Listener, options?: boolean | EventListenerOptions) => {
      if (listener !== null) remove(type, listener, options);
      this.#release(listener);
    };
    this.signal = signal;
  }

  get listeners(): number {
    return this.#listening.size;
  }

  /** Resolves once nobody listens. */
  released(): Promise<void> {
    return new Promise((resolve) => {
      this.#onReleased = resolve;
      if (this.#listening.size === 0) resolve();
    });
  }

  #listen(listener: Listener, options: boolean | AddEventListenerOptions | undefined): void {
    this.#listening.add(listener);
    // A listener of the signal's own kind: it goes when that other signal aborts.
    if (typeof options === 'object')
      options.signal?.addEventListener('abort', () => this.#release(listener), { once: true });
  }

  #release(listener: Listener): void {
    this.#listening.delete(listener);
    if (this.#listening.size === 0) this.#onReleased?.();
  }
}

/** The platform's own functions hold their listeners weakly: Node's `fetch` leaves one until the request is collected. */
function isOfPlatform(stack: string | undefined): boolean {
  return stack?.split('\n')[2]?.includes('node:internal') === true;
}
