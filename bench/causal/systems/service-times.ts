/** How long a server works for one message: what the queueing model goes by. All times in microseconds. */
import type { MessageSize } from './message-size.ts';

export interface Line {
  readonly baseUs: number;
  readonly perIdUs: number;
}

export interface ServiceTimes {
  /** One end of a message: a call of the kernel, and what Node does around it. */
  readonly socketUs: number;
  /** One end: encoding or decoding. */
  readonly codec: { readonly perMessageUs: number; readonly perNumberUs: number; readonly perLetterUs: number };
  /** What the partition does with a message of each kind, by the ids of reads in it and in what it sends. */
  readonly execution: Readonly<Record<string, Line>>;
}

/** For tests, and for the runs that the real times are measured in. */
export const NOMINAL_TIMES: ServiceTimes = {
  socketUs: 8,
  codec: { perMessageUs: 1, perNumberUs: 0.02, perLetterUs: 0.001 },
  execution: {},
};

const NOMINAL_EXECUTION: Line = { baseUs: 2, perIdUs: 0.1 };

/** Returns what one end of a message takes: the server that sends it, and the one that receives it. */
export function computeMessageUs({ socketUs, codec }: ServiceTimes, { numbers, letters }: MessageSize): number {
  return socketUs + codec.perMessageUs + codec.perNumberUs * numbers + codec.perLetterUs * letters;
}

export function computeExecutionUs({ execution }: ServiceTimes, kind: string, ids: number): number {
  const { baseUs, perIdUs } = execution[kind] ?? NOMINAL_EXECUTION;
  return baseUs + perIdUs * ids;
}
