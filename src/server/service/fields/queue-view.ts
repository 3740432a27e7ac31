/** What services see of a queue: its state, and what its effects yield. */

/** A queue as generators see it: valid until the generator returns. */
export interface QueueView<T = unknown> {
  readonly size: number;
  /** The item at `index`, counted from the one that a `pop` would take; `undefined` outside. */
  at(index: number): T | undefined;
}

/** What a `pop` took. */
export type Popped<T = unknown> =
  | { readonly found: true; readonly item: T; readonly remaining: number }
  | { readonly found: false; readonly remaining: 0 };

/** What a `push` left. */
export interface Pushed {
  readonly size: number;
}
