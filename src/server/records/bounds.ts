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
