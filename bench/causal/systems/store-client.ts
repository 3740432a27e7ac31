/** The interface of both systems for the clients of a benchmark. */
import type { ReadVersion } from '../../../src/testing/simulator/checkers/frontier-checker.ts';
import type { QueueingNetwork } from './queueing-network.ts';

export interface Placed {
  readonly stamp: number;
  readonly site: number;
}

/** A session at one site, with one operation at a time. */
export interface StoreClient {
  read(
    keys: readonly string[],
    onEnd: (versions: readonly (ReadVersion | undefined)[]) => void,
  ): void;
  put(key: string, value: string, onEnd: (place: Placed) => void): void;
}

/** The read ids that a put collected before it became visible. */
export interface ReadersCheck {
  /** The number of ids, in which an id counts once for each answer that contains it. */
  readonly all: number;
  readonly distinct: number;
  readonly partitions: number;
}

export interface SystemOptions {
  readonly network: QueueingNetwork;
  readonly siteCount: number;
  readonly partitionCount: number;
  /** The value of a key that was never written. Default: such a key is absent */
  readonly initialValue?: string | undefined;
  readonly onReadersCheck?: ((check: ReadersCheck) => void) | undefined;
}

export interface System {
  createClient(site: number): StoreClient;
  /** Runs the background work of each site. */
  maintain(): void;
  /** Reads that a server or a gateway refused, so that they had to wait. */
  readonly blockedReads: number;
}

/** The stamp and the site of the initial version of a key. */
export const INITIAL: Placed = { stamp: 0, site: 0 };

export function comparePlaces(a: Placed, b: Placed): number {
  return a.stamp - b.stamp || a.site - b.site;
}
