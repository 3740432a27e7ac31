/**
 * The service times of the queueing model: how long a server works for one message. All times are
 * in microseconds.
 */
import type { MessageSize } from './message-size.ts';

export interface Line {
  readonly baseUs: number;
  readonly perIdUs: number;
}

export interface ServiceTimes {
  /** The time for one end of a message: a system call, and the work of Node around it. */
  readonly socketUs: number;
  /** The time for encoding or decoding a message. */
  readonly codec: {
    readonly perMessageUs: number;
    readonly perNumberUs: number;
    readonly perLetterUs: number;
  };
  /**
   * The execution time of each kind of message, as a function of the number of read ids in it and
   * in its replies.
   */
  readonly execution: Readonly<Record<string, Line>>;
}

/** Service times for tests, and for the runs in which the real times are measured. */
export const NOMINAL_TIMES: ServiceTimes = {
  socketUs: 8,
  codec: { perMessageUs: 1, perNumberUs: 0.02, perLetterUs: 0.001 },
  execution: {},
};

const NOMINAL_EXECUTION: Line = { baseUs: 2, perIdUs: 0.1 };

/** Returns the time of one end of a message. The sender and the receiver each need it. */
export function computeMessageUs(
  { socketUs, codec }: ServiceTimes,
  { numbers, letters }: MessageSize,
): number {
  return socketUs + codec.perMessageUs + codec.perNumberUs * numbers + codec.perLetterUs * letters;
}

export function computeExecutionUs({ execution }: ServiceTimes, kind: string, ids: number): number {
  const { baseUs, perIdUs } = execution[kind] ?? NOMINAL_EXECUTION;
  return baseUs + perIdUs * ids;
}
