/**
 * The port of the red log: a totally ordered, durable log that delivers every record at least once to every site, in
 * one order. Delivery decides, so that nothing more is asked of it: no fence, no lock.
 */

/** What a site asks of the log. */
export interface Log<R> {
  /** Adds a record. It is delivered at every site once it can no longer be lost; the caller notices by its delivery. */
  propose(record: R, nowMs: number): void;
  /** Takes a record back that has not left this node; says whether it has: then it is never delivered. */
  withdraw(record: R): boolean;
}

/** What the nodes of a sequenced log tell each other. */
export type LogMessage<R> =
  /** The sender's `sequence`-th proposal since it started in `epoch`. */
  | { readonly kind: 'log.propose'; readonly epoch: number; readonly sequence: number; readonly record: R }
  /** Entries from `position` on, of which those before `committed` are held by a majority. */
  | {
      readonly kind: 'log.append';
      readonly position: number;
      readonly entries: readonly LogEntry<R>[];
      readonly committed: number;
    }
  /** All entries before `length` are synced at the sender, which knows of those before `committed` that they count. */
  | { readonly kind: 'log.appended'; readonly length: number; readonly committed: number };

/** One entry of the log: a record and the proposal that it came from. */
export interface LogEntry<R> {
  readonly origin: number;
  readonly epoch: number;
  readonly sequence: number;
  readonly record: R;
}

/** What a node of the log wants done. */
export type LogOutput<R> =
  | { readonly kind: 'send'; readonly to: number; readonly message: LogMessage<R> }
  | { readonly kind: 'store'; readonly entries: readonly LogEntry<R>[] }
  /** Records from `position` on. */
  | { readonly kind: 'deliver'; readonly position: number; readonly records: readonly R[] };
