/**
 * Limits of what is remembered of ended operations, counted along a log: all
 * its readers forget the same.
 */

export interface IdTableLimits {
  /**
   * Operations remembered; beyond them the oldest takes its client's watermark
   * with it.
   */
  readonly maxOperations: number;
  /**
   * Operations of one client; beyond them its own oldest go, so that none can
   * expire the operations of others.
   */
  readonly maxOperationsPerClient?: number;
  /**
   * Operations of all clients of one principal; beyond them its own oldest go,
   * however many names it takes.
   */
  readonly maxOperationsPerPrincipal?: number;
  /**
   * Bytes of the values that are remembered, of a client, a principal and all;
   * beyond them the oldest go likewise.
   */
  readonly maxBytesPerClient?: number;
  readonly maxBytesPerPrincipal?: number;
  readonly maxBytes?: number;
  /**
   * Clients remembered; beyond them those that have not been heard of for
   * longest are forgotten.
   */
  readonly maxClients: number;
}

export interface CertifierLimits {
  /**
   * Commits against which a snapshot can be certified; an older snapshot is
   * rejected.
   */
  readonly maxWindowCommits: number;
  /**
   * Bytes of what those have written, about; the latest commit stays, however
   * large it is.
   */
  readonly maxWindowBytes?: number;
  /** Ended operations whose repetition is noticed. */
  readonly maxOutcomes: IdTableLimits;
}

/**
 * Bytes that a site may come to keep for a red log that has halted, about,
 * before it takes no more updates.
 */
export const MAX_HALTED_BYTES = 256 << 20;

/**
 * Bytes of one operation at most, as `estimateEncodedBytes` counts them: its
 * message is below `MAX_ENVELOPE_BYTES`.
 */
export const MAX_OPERATION_BYTES = 48 << 20;
/**
 * Effects of one operation at most, and names and intervals that it has read:
 * more than generators may come to.
 */
export const MAX_OPERATION_PARTS = 1 << 20;
export const MAX_CLIENT_LENGTH = 1 << 16;
