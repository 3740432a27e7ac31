/** Limits of a causal store. All times are in microseconds, as stamps are. */
import { MICROSECONDS_PER_MS } from './stamps.ts';

export interface CausalLimits {
  /** How far a clock may be off. Calls beyond that are refused (CAUSAL-8). */
  readonly maxClockSkew: number;
  /** How long a gateway waits for a reply of a partition. */
  readonly requestTimeout: number;
  /** Versions that are younger are kept, for snapshots that are older (CAUSAL-6). */
  readonly keepVersionsFor: number;
  /** Maximum number of stable versions that are kept for one key (CAUSAL-6). */
  readonly maxVersions: number;
  /**
   * Bytes of stable values of one key that are kept. Values that are no bytes count as 0
   * (CAUSAL-6).
   */
  readonly maxVersionBytes: number;
  /** How long a repeated write is recognized (CAUSAL-17). */
  readonly keepIdsFor: number;
  /** Maximum number of own entries that are kept for a site that does not pull (CAUSAL-16). */
  readonly maxOwnEntries: number;
  /** Bytes of these entries: 300 for each, and its value if that is bytes (CAUSAL-16). */
  readonly maxOwnEntryBytes: number;
  /** How long a delete is remembered (CAUSAL-18). */
  readonly keepTombstonesFor: number;
  /** How far a partition may be ahead of its site before it stops pulling (CAUSAL-19). */
  readonly maxReceivedAhead: number;
  /** Maximum number of entries in the reply to one pull. */
  readonly maxPulledEntries: number;
  /** Maximum number of chains in the reply to one scan. */
  readonly maxScannedKeys: number;
}

const SECOND = 1_000 * MICROSECONDS_PER_MS;

export const DEFAULT_LIMITS: CausalLimits = {
  maxClockSkew: SECOND / 2,
  requestTimeout: 4 * SECOND,
  keepVersionsFor: 5 * SECOND,
  maxVersions: 32,
  maxVersionBytes: 65_536,
  keepIdsFor: 60 * SECOND,
  maxOwnEntries: 1_000_000,
  maxOwnEntryBytes: 16_777_216,
  keepTombstonesFor: 24 * 3600 * SECOND,
  maxReceivedAhead: 10 * SECOND,
  maxPulledEntries: 200,
  maxScannedKeys: 500,
};
