/** How much is remembered of what has ended: counted along a log, so that whoever reads it forgets alike. */

/** Bounds of a table of identifiers. */
export interface IdTableLimits {
  /** Operations remembered; beyond them the oldest takes its client's watermark with it. */
  readonly operationsMax: number;
  /** Operations of one client; beyond them its own oldest go, so that none can expire the operations of others. */
  readonly perClientMax?: number;
  /** Operations of all clients of one principal; beyond them its own oldest go, however many names it takes. */
  readonly perPrincipalMax?: number;
  /** Bytes of the values that are remembered, of a client, a principal and all; beyond them the oldest go likewise. */
  readonly clientBytesMax?: number;
  readonly principalBytesMax?: number;
  readonly bytesMax?: number;
  /** Clients remembered; beyond them those that have not been heard of for longest are forgotten. */
  readonly clientsMax: number;
}

/** Bounds of what a certifier remembers. */
export interface CertifierLimits {
  /** Commits against which a snapshot can be certified; an older snapshot is rejected. */
  readonly windowCommits: number;
  /** Bytes of what those have written, about; the latest commit stays, however large it is. */
  readonly windowBytes?: number;
  /** Ended operations whose repetition is noticed. */
  readonly endings: IdTableLimits;
}

/** Bytes that a site may come to keep for a red log that has halted, about, before it takes no more updates. */
export const HALTED_BYTES_MAX = 256 << 20;

/**
 * Bytes of one operation at most, as `writtenBytes` counts them: so that the message which carries it, with its name and the
 * names of those that it stands on, is none of those that are refused (`ENVELOPE_BYTES_MAX`, `ENVELOPE_VALUES_MAX`).
 */
export const OPERATION_BYTES_MAX = 48 << 20;
/**
 * Effects of one operation at most, and names and intervals that it has read: far more than generators may come to, unless
 * they are given other limits.
 */
export const OPERATION_PARTS_MAX = 1 << 20;
/** Characters of a client's name at most. */
export const CLIENT_LENGTH_MAX = 1 << 16;
