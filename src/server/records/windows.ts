/** How much is sent to a site before it has answered any of it: what is away, or slow, is not sent the same again and again. */

export interface Windows {
  /** Operations of a stream that are asked for at a time. */
  readonly asked: number;
  /** Operations of a stream beyond the last one that a receiver has confirmed; with more it is told of no new ones. */
  readonly sent: number;
  /** Entries of the red log beyond what a follower has. */
  readonly appended: number;
  /** Own proposals that the leader has not taken; more wait, and can be taken back. */
  readonly proposed: number;
}

export const WINDOWS: Windows = { asked: 1024, sent: 8192, appended: 4096, proposed: 1024 };

/** Operations of a stream, or entries of the red log, in one message at most. */
export const OPERATIONS_MAX = 4096;
