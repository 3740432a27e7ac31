/**
 * How much is sent to a site before it has answered. So a site that is away or slow does not get
 * the same again and again.
 */

export interface SendWindows {
  /** The number of operations of a stream that are requested at a time. */
  readonly maxRequested: number;
  /**
   * The number of operations of a stream beyond those that a receiver has confirmed. If a receiver
   * lacks more, it gets no new ones.
   */
  readonly maxSent: number;
  /** The number of entries of the red log beyond those that a follower has. */
  readonly maxAppended: number;
  /**
   * The number of own proposals that the leader has not taken. Further ones wait, and can be taken
   * back.
   */
  readonly maxProposed: number;
  /**
   * The number of own globals over the same red logs that may hold rows at a time. Further ones
   * wait, hold nothing, and can be taken back.
   */
  readonly maxGlobals: number;
}

export const DEFAULT_SEND_WINDOWS: SendWindows = {
  maxRequested: 1024,
  maxSent: 8192,
  maxAppended: 4096,
  maxProposed: 1024,
  maxGlobals: 128,
};

/** The maximum of operations of a stream, or of entries of the red log, in one message. */
export const MAX_OPERATIONS_PER_MESSAGE = 4096;
