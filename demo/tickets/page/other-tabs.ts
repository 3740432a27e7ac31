/** Notifies tabs that sell the same event when one of them has opened a new event. */

/** The message of a tab. */
interface Moved {
  readonly from: string;
  readonly to: string;
}

export class OtherTabs {
  readonly #channel = new BroadcastChannel('correctables-ticket-shop');
  #event: string;
  /**
   * The event of this tab, and its successors in other tabs. If another tab has opened two new
   * events, both are in the set.
   */
  readonly #line = new Set<string>();
  #next: string | undefined;

  /**
   * @param event the event that this tab sells
   * @param changed called when `next` has changed
   */
  constructor(event: string, changed: () => void) {
    this.#event = event;
    this.#line.add(event);
    this.#channel.addEventListener('message', ({ data }: MessageEvent<Moved>) => {
      if (!this.#line.has(data.from)) return;
      this.#line.add(data.to);
      this.#next = data.to;
      changed();
    });
  }

  /** The latest event that another tab has opened after the event of this tab, if there is one. */
  get next(): string | undefined {
    return this.#next;
  }

  /** Notifies other tabs that this tab sells `event` from now on. */
  sell(event: string): void {
    if (event === this.#event) return;
    // A BroadcastChannel stays within one origin, and its `postMessage` takes no other.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.#channel.postMessage({ from: this.#event, to: event } satisfies Moved);
    this.#event = event;
    this.#line.clear();
    this.#line.add(event);
    this.#next = undefined;
  }
}
