/**
 * Limits of what is remembered of ended operations. They are counted along a log, so that all its
 * readers forget the same.
 */

export interface IdTableLimits {
  /**
   * The maximum of operations. Beyond it the oldest operation is forgotten, with the earlier ones
   * of its client.
   */
  readonly maxOperations: number;
  /**
   * The maximum of operations of one client. Beyond it its own oldest are forgotten, so that no
   * client can expire the operations of others.
   */
  readonly maxOperationsPerClient?: number;
  /**
   * The maximum of operations of all clients of one principal. Beyond it its own oldest are
   * forgotten, whichever client names it uses.
   */
  readonly maxOperationsPerPrincipal?: number;
  /**
   * The maximum of bytes of the values of a client, a principal and all. Beyond it the oldest are
   * forgotten in the same way.
   */
  readonly maxBytesPerClient?: number;
  readonly maxBytesPerPrincipal?: number;
  readonly maxBytes?: number;
  /** The maximum of clients. Beyond it those are forgotten that have sent nothing for longest. */
  readonly maxClients: number;
}

export interface CertifierLimits {
  /**
   * The number of commits against which a snapshot can be certified. An older snapshot is rejected.
   */
  readonly maxWindowCommits: number;
  /**
   * The approximate maximum of bytes that these commits have written. The latest commit stays,
   * however large it is.
   */
  readonly maxWindowBytes?: number;
  /** The ended operations of which a repetition is noticed. */
  readonly maxOutcomes: IdTableLimits;
}

/**
 * Returns the limits of each of several red logs. All sites have the same, and the number of logs
 * never changes.
 */
export function shareRetention(limits: CertifierLimits, logCount: number): CertifierLimits {
  if (logCount === 1) return limits;
  const share = (limit: number): number => Math.max(1, Math.floor(limit / logCount));
  const { maxOutcomes, maxWindowBytes = Infinity } = limits;
  const shared = Object.entries(maxOutcomes).map(
    ([name, limit]) => [name, share(limit as number)] as const,
  );
  return {
    ...limits,
    maxWindowBytes: share(maxWindowBytes),
    maxOutcomes: Object.fromEntries(shared) as unknown as IdTableLimits,
  };
}

/**
 * The approximate maximum of bytes that a site keeps for a red log that has halted. Beyond it the
 * site takes no more updates.
 */
export const MAX_HALTED_BYTES = 256 << 20;

/**
 * The maximum of bytes of one operation, as `estimateEncodedBytes` counts them. Its message is
 * below `MAX_ENVELOPE_BYTES`.
 */
export const MAX_OPERATION_BYTES = 48 << 20;
/**
 * The maximum of effects of one operation, and of names and intervals that it has read. It is above
 * the limits of generators.
 */
export const MAX_OPERATION_PARTS = 1 << 20;
export const MAX_CLIENT_LENGTH = 1 << 16;
