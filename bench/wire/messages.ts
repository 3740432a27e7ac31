/** The messages between the benchmark and its processes. */

/**
 * The kinds of contenders: `gateway` is this package; the others are a bare `ws` server that sends
 * back as many bytes as the gateway's client sends and gets, with one view or with both.
 */
export type Mode = 'gateway' | 'gateway-views' | 'echo-equal' | 'echo-equal-views';

/** A contender: its mode, of this checkout or of another one. */
export type Name = Mode | 'other gateway' | 'other gateway-views';

/** The size of an operation on the wire, in bytes of frames without their headers. */
export interface BytesPerOp {
  readonly sent: number;
  readonly received: number;
}

/**
 * A run of a client process. `bytes` is the size that an operation should have, if the contender
 * must match another one.
 */
export interface Run {
  readonly window: number;
  readonly durationMs: number;
  readonly bytes?: BytesPerOp | undefined;
}

/** A message to a client process. `views` requests a count of preliminary views. */
export type ClientOrder = { readonly run: Run } | 'views';

/**
 * A message to a server process: `cpu` requests the processor time so far, and `profile` a profile
 * until the next message.
 */
export type ServerOrder = 'cpu' | 'profile' | 'profiled';

/** The report of a client process about one run. */
export interface ClientReport {
  readonly operations: number;
  readonly elapsedMs: number;
  /** Processor time of the client during the run, in microseconds. */
  readonly cpuUs: number;
  readonly bytes: BytesPerOp;
}

/**
 * The report of a client process about operations that were not timed: how many had a preliminary
 * view.
 */
export interface ViewsReport {
  readonly views: number;
  readonly of: number;
}

/** The shares of the server's busy time, by its use; null if there are no samples. */
export interface ProfileReport {
  readonly validationShare: number | null;
  readonly gcShare: number | null;
}

/** Processor time of this process so far, in microseconds. */
export function cpuUsedUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
