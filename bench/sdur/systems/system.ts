/** What the harness asks of a system: the machine of the paper, or the product. */

/** A row of a partition, and what a transaction does to it. */
export interface Access {
  readonly partition: number;
  readonly row: number;
  readonly isRead: boolean;
  readonly isWritten: boolean;
}

export interface Request {
  /** The partition whose clients begin it. */
  readonly home: number;
  readonly rows: readonly Access[];
}

export interface System {
  /** Begins a transaction. Calls `onEnd` at the moment at which its client gets the outcome. */
  begin(request: Request, onEnd: (commits: boolean) => void): void;
  /** How long each server has worked so far, in milliseconds. */
  readonly busyMs: readonly number[];
}
