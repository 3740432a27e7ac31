/** The messages between the benchmark and its client processes. */
import type { Site } from '../../engines/wan.ts';
import type { WorkloadOptions } from '../ycsb/workload.ts';
import type { HistoryEvent } from './history.ts';

/**
 * The systems under test. C1, C2 and C3 read one, two or three replicas and have one view. CC2 and
 * CC3 have a preliminary view of one replica and a final one of two or three; `CC2 twice` always by
 * two requests, through `cassandra-driver`. `C1 + C2` has both views too, by a request for each,
 * through the client of C1 and C2. Names with `driver` use `cassandra-driver` alone.
 */
export const SYSTEMS = [
  'C1',
  'C2',
  'C3',
  'CC2',
  'CC3',
  'C1 + C2',
  'CC2 twice',
  'driver C1',
  'driver C2',
  'driver C3',
] as const;
export type System = (typeof SYSTEMS)[number];

/** The client on which the paper reports. */
export const REPORTED = 'ireland' satisfies Site;

/** The settings that a client process gets at its start. */
export interface ClientSetup {
  readonly site: Site;
  readonly keyspace: string;
  /** The address of the coordinator for the client's site. */
  readonly contactPoint: string;
  /**
   * Whether a read of CC is one request, to a coordinator with preliminary views. Otherwise it is
   * two requests.
   */
  readonly oneRequest: boolean;
  /**
   * Websocket addresses of gateways beside the coordinator, by the number of replicas of a final
   * read.
   */
  readonly gateways?: Readonly<Record<2 | 3, string>> | undefined;
  /** Whether to count the bytes to and from the coordinator. */
  readonly countBytes: boolean;
}

/** Runs a closed loop of requests. */
export interface LoadOrder extends WorkloadOptions {
  readonly kind: 'load';
  readonly system: System;
  /** Requests in flight at a time. */
  readonly inFlight: number;
  readonly warmUpMs: number;
  readonly durationMs: number;
  readonly seed: number;
  /** Whether to report the history of reads and writes. */
  readonly record: boolean;
}

/** Reads small objects one after the other, through each system in turn. */
export interface TurnsOrder {
  readonly kind: 'turns';
  readonly systems: readonly System[];
  readonly turns: number;
}

export type ClientOrder = LoadOrder | TurnsOrder;

export interface Latency {
  readonly avgMs: number;
  readonly p99Ms: number;
}

export interface LoadReport {
  /** Reads and updates that ended while it was measured. */
  readonly operations: number;
  readonly elapsedMs: number;
  readonly reads: number;
  /** How many of them had a preliminary view. */
  readonly preliminaries: number;
  /** The latency of preliminary views. */
  readonly preliminary: Latency | null;
  readonly final: Latency | null;
  /** On the socket, both directions, without the warm-up; null if not counted. */
  readonly bytes: number | null;
  readonly cpuUs: number;
  readonly history: readonly HistoryEvent[];
}

/** Milliseconds of each read, by system. */
export type TurnsReport = Readonly<
  Partial<
    Record<System, readonly { readonly preliminaryMs: number | null; readonly finalMs: number }[]>
  >
>;
