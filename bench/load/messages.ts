/** What load benchmarks ask of their processes, and what those answer. */
import type { Way } from '../transactions/messages.ts';

/** Where operations go. */
export type Target =
  /** The RedBlue backend behind the gateway. */
  | {
      readonly kind: 'redblue';
      readonly sites: 1 | 3;
      readonly durable: boolean;
      /** Each site has a process of its own. */
      readonly isCluster?: true;
      /** Another checkout of this repository whose server is started. Default: this one. */
      readonly checkout?: string | undefined;
    }
  /**
   * The same gateway, service and log with replication and certification off. What comes in one turn shares a reading of
   * the clock and a write, as at a site.
   */
  | { readonly kind: 'plain' }
  /** What a good engineer would write in a day: `ws`, a `Map`, MessagePack, and a log that is written once a turn. */
  | { readonly kind: 'day'; readonly durable: boolean }
  /** A bare `ws` server that sends back what it gets. */
  | { readonly kind: 'echo' }
  /** Transfers between two accounts, started by `bench/transactions`. */
  | { readonly kind: 'transfer'; readonly way: Way }
  /** redis-server, with its append-only file synced at every write, or without one. */
  | { readonly kind: 'redis'; readonly durable: boolean };

/** What operations are sent. */
export type Workload = 'set' | 'deposit' | 'withdraw' | 'read' | 'mix' | 'transfer';

/** To a client process, after a run: to ask the store what it holds of what was written. */
export const WRITTEN = 'written';

/** To a client process: a closed loop, or an open one. */
export interface ClientOrder {
  readonly workload: Workload;
  /** Operations under way at any time; in an open loop, at most. */
  readonly window: number;
  readonly durationMs: number;
  /**
   * Begins so many operations a second, whether those before have ended or not, and counts how long each takes from when
   * it should have begun: a server that stalls is not spared those that wait meanwhile.
   */
  readonly perSecond?: number | undefined;
}

/** From a client process, for one run. */
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
