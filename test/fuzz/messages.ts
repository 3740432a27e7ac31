/** What the storm and its targets, which are processes of their own, tell each other. */

/** What a process holds, after the collector has run. */
export interface Measure {
  readonly descriptors: number;
  /** Sockets, servers and timers that keep the process alive, by kind. */
  readonly handles: Readonly<Record<string, number>>;
  readonly memoryMb: number;
  readonly connections: number;
  /** What gateways know of their clients, by kind: nothing, once all of them have been gone for long enough. */
  readonly remembered: Readonly<Record<string, number>>;
}

/** The outcome of one write of the client process. */
export interface MarkedOutcome {
  readonly mark: string;
  readonly code: string;
  readonly retryable: boolean;
  readonly message: string;
}

export type FromTarget =
  | { readonly kind: 'ready'; readonly urls: Readonly<Record<string, string>> }
  | { readonly kind: 'measured'; readonly measure: Measure; readonly executed: Readonly<Record<string, number>> }
  | { readonly kind: 'visited'; readonly outcomes: readonly MarkedOutcome[]; readonly hung: readonly string[] };

export type ToTarget =
  | { readonly kind: 'measure' }
  | { readonly kind: 'visit'; readonly url: string; readonly seed: number };
