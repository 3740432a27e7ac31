/**
 * What the target, which is a process of its own, sends: its addresses, and what it holds whenever
 * it is asked.
 */

/** What a process holds, after the collector has run. */
export interface Measure {
  readonly descriptors: number;
  /** Sockets, servers and timers that keep the process alive, by kind. */
  readonly handles: Readonly<Record<string, number>>;
  readonly memoryMb: number;
  readonly connections: number;
  /**
   * What gateways know of their clients, by kind: nothing, once all of them have been gone for long
   * enough.
   */
  readonly remembered: Readonly<Record<string, number>>;
}

export type FromTarget =
  | { readonly kind: 'ready'; readonly urls: Readonly<Record<string, string>> }
  | {
      readonly kind: 'measured';
      readonly measure: Measure;
      readonly executed: Readonly<Record<string, number>>;
    };
