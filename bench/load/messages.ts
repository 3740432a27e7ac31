/** What load benchmarks ask of their processes, and what those answer. */

/** Where operations go. */
export type Target =
  /** The RedBlue backend behind the gateway. */
  | {
      readonly kind: 'redblue';
      readonly sites: 1 | 3;
      readonly durable: boolean;
      /** Started with what the operating guide recommends to sites with processors to spare. */
      readonly tuned?: true;
    }
  /** The same gateway, service and log with replication and certification off; tuned. */
  | { readonly kind: 'plain' }
  /** redis-server, with its append-only file synced at every write, or without one. */
  | { readonly kind: 'redis'; readonly durable: boolean };

/** What operations are sent. */
export type Workload = 'set' | 'deposit' | 'withdraw' | 'read' | 'mix';

/** To a client process. */
export interface ClientOrder {
  readonly workload: Workload;
  /** Operations under way at any time. */
  readonly window: number;
  readonly durationMs: number;
}

/** From a client process, for one run. */
export interface ClientReport {
  readonly operations: number;
  readonly elapsedMs: number;
  /** Processor time of the client during the run, in microseconds. */
  readonly cpuUs: number;
  /** Latencies in milliseconds: median and 99th percentile. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Processor time of this process so far, in microseconds. */
export function cpuUsedUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
