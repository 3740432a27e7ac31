/**
 * Sizes inside the pure machines of a site that users do not set. They are options, so that the
 * simulator draws small ones and reaches what is beyond them.
 */

export interface MachineSizes {
  /**
   * The maximum of operations of a stream that are sent again, or of entries of the red log, in one
   * message.
   */
  readonly maxBatch: number;
  /** The number of delivered entries that a follower keeps for others. */
  readonly maxPassedOn: number;
  /**
   * The number of rejected operations of other sites that are remembered. Requests do not wait for
   * others.
   */
  readonly maxContended: number;
  /**
   * The maximum of fields with an early request for rights. Requests for other fields are sent
   * again.
   */
  readonly maxEarlyFields: number;
  /** The maximum of bytes of received replies that are kept. */
  readonly maxReceivedBytes: number;
  /**
   * The maximum of unsent operations in the small part of a checkpoint. If there are more, none is
   * there.
   */
  readonly maxSavedUnsent: number;
  /**
   * The maximum of marks of the copy of a log that etcd keeps. If there are more, every second one
   * is left out.
   */
  readonly maxMarks: number;
  /** Called when a machine goes beyond one of them. */
  onExceeded?(size: keyof Omit<MachineSizes, 'onExceeded'>): void;
}

/** Returns how many of `count` operations or entries go into one message. */
export function limitBatch({ maxBatch, onExceeded }: MachineSizes, count: number): number {
  if (count > maxBatch) onExceeded?.('maxBatch');
  return Math.min(count, maxBatch);
}

export const DEFAULT_MACHINE_SIZES: MachineSizes = {
  maxBatch: 256,
  maxPassedOn: 1000,
  maxContended: 256,
  maxEarlyFields: 1024,
  maxReceivedBytes: 64 << 20,
  maxSavedUnsent: 4096,
  maxMarks: 1024,
};
