/** What the benchmark asks of its processes, and what they answer. */

/**
 * How a contender travels: `gateway` is this package; the others are a bare `ws` server that sends back as many bytes
 * as the gateway's client sends and gets, with one view or with both.
 */
export type Mode = 'gateway' | 'gateway-views' | 'echo-equal' | 'echo-equal-views';

/** What an operation takes on the wire, in bytes of frames without their headers. */
export interface BytesPerOp {
  readonly sent: number;
  readonly received: number;
}

/** A run of a client process; `bytes`: what an operation is to take, where the contender carries as much as another one. */
export interface Run {
  readonly window: number;
  readonly durationMs: number;
  readonly bytes?: BytesPerOp | undefined;
}

/** To a client process; `views`: whether operations have a preliminary view, of the contender that asks for both. */
export type ClientOrder = { readonly run: Run } | 'views';

/** To a server process: `cpu` asks for the time used so far, `profile` for a profile until the next one. */
export type ServerOrder = 'cpu' | 'profile' | 'profiled';

/** From a client process, for one run. */
export interface ClientReport {
  readonly operations: number;
  readonly elapsedMs: number;
  /** Processor time of the client during the run, in microseconds. */
  readonly cpuUs: number;
  readonly bytes: BytesPerOp;
}

/** From a client process, of operations that were not timed: how many had a preliminary view. */
export interface ViewsReport {
  readonly views: number;
  readonly of: number;
}

/** Share of the server's busy time, by what it was spent on; null where no sample says it. */
export interface ProfileReport {
  readonly validationShare: number | null;
  readonly gcShare: number | null;
}

/** Processor time of this process so far, in microseconds. */
export function cpuUsedUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
