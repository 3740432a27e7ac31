/** The messages between load benchmarks and their processes. */
import type { Way } from '../transactions/messages.ts';

/** The target of the operations. */
export type Target =
  /** The RedBlue backend behind the gateway. */
  | {
      readonly kind: 'redblue';
      readonly sites: 1 | 3;
      readonly durable: boolean;
      /** Whether each site is a separate process. */
      readonly isCluster?: true;
      /** Another checkout of this repository whose processes are started. Default: this one. */
      readonly checkout?: string | undefined;
    }
  /**
   * The same gateway, service and log with replication and certification off. Operations of one
   * turn share a reading of the clock and a write, as at a site.
   */
  | { readonly kind: 'plain' }
  /** The simple baseline server of `baseline-server.ts`. */
  | { readonly kind: 'day'; readonly durable: boolean }
  /** A bare `ws` server that sends back each message. */
  | { readonly kind: 'echo' }
  /** The server of `bench/transactions`, which executes transfers between two accounts. */
  | { readonly kind: 'transfer'; readonly way: Way }
  /**
   * A Redis server. If `durable`, its append-only file is synced at every write, otherwise it has
   * none.
   */
  | { readonly kind: 'redis'; readonly durable: boolean };

/** The operations that are sent. */
export type Workload = 'set' | 'deposit' | 'withdraw' | 'read' | 'mix' | 'transfer';

/** A message to a client process after a run: read from the store what was written. */
export const WRITTEN = 'written';

/** A message to a client process that starts a closed loop, or an open one. */
export interface ClientOrder {
  readonly workload: Workload;
  /** Operations in flight at any time. In an open loop, this is the maximum. */
  readonly window: number;
  readonly durationMs: number;
  /**
   * The rate of an open loop: this many operations start each second, whether earlier ones have
   * ended or not. Each latency counts from the time at which the operation was due, so operations
   * that wait during a stall of the server count too.
   */
  readonly perSecond?: number | undefined;
}

/** The report of a client process about one run. */
export interface ClientReport {
  readonly operations: number;
  readonly elapsedMs: number;
  /** Processor time of the client during the run, in microseconds. */
  readonly cpuUs: number;
  /** Latencies in milliseconds: median, 99th and 99.9th percentile. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}

/** Processor time of this process so far, in microseconds. */
export function cpuUsedUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
