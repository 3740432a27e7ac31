/**
 * How much is sent to a site before it has answered any of it: what is away, or
 * slow, is not sent the same again and again.
 */

export interface SendWindows {
  /** Operations of a stream that are asked for at a time. */
  readonly maxRequested: number;
  /**
   * Operations of a stream beyond those that a receiver has confirmed. With
   * more, it gets no new ones.
   */
  readonly maxSent: number;
  /** Entries of the red log beyond what a follower has. */
  readonly maxAppended: number;
  /**
   * Own proposals that the leader has not taken; more wait, and can be taken
   * back.
   */
  readonly maxProposed: number;
}

export const DEFAULT_SEND_WINDOWS: SendWindows = {
  maxRequested: 1024,
  maxSent: 8192,
  maxAppended: 4096,
  maxProposed: 1024,
};

/**
 * Operations of a stream, or entries of the red log, in one message at most.
 */
export const MAX_OPERATIONS_PER_MESSAGE = 4096;
