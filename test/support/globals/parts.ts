/**
 * The parts of a site that a planted fault can replace, and the operations of the world of globals.
 */
import { toFieldName } from '../../../src/server/service/generator/read-set.ts';
import type { Effect } from '../../../src/server/service/records/effect.ts';
import type { Origin } from '../../../src/server/service/records/origin.ts';
import type { RedOperation, RedRecord } from '../../../src/server/service/records/records.ts';
import { findAwaitedStamps } from '../../../src/server/site/lane/order/global-gate.ts';
import { HoldTable, type RowPartitions } from '../../../src/server/site/lane/order/hold-table.ts';
import { PartitionCertifier } from '../../../src/server/site/lane/order/partition-certifier.ts';
import { GlobalCoordinator } from '../../../src/server/site/lane/requests/global-coordinator.ts';

export const LOGS = 3;
export const SITES = 3;
export const ROWS = 2;
export const RESEND_AFTER_MS = 100;

/** The ordinals of vectors: `main`, the sites, then the other logs. */
export const SITE_ORIGINS = Array.from({ length: SITES }, (_, site) => (site + 1) as Origin);
export const LOG_ORIGINS = Array.from(
  { length: LOGS },
  (_, log) => (log === 0 ? 0 : SITES + log) as Origin,
);
export const VECTOR_SIZE = LOGS + SITES;

const TABLE = 'rows';
const FIELD = 'value';
export const toKey = (log: number, row: number): string => `${log}/${row}`;
export const toName = (key: string): string => toFieldName(TABLE, key, FIELD);
export const toEffect = (key: string): Effect => ({
  table: TABLE,
  key,
  field: FIELD,
  action: 'assign',
  value: 1,
});
export const getLog = (key: string): number => Number(key.split('/')[0]);
export const PARTITIONS: RowPartitions = { ofRow: (_table, key) => getLog(key) };

/** A record of any log. `fence` closes a site in this log: its later records are void. */
export type WorldRecord = RedRecord | { readonly kind: 'fence'; readonly site: Origin };

/** What sites are made of. */
export interface Parts {
  readonly HoldTable: typeof HoldTable;
  readonly Certifier: typeof PartitionCertifier;
  readonly Coordinator: typeof GlobalCoordinator;
  readonly findAwaitedStamps: typeof findAwaitedStamps;
  /** Whether a checkpoint has the holds (G8g). */
  readonly savesHolds: boolean;
  /** Whether a global waits until another site has its blue operations (R8). */
  readonly waitsForDurable: boolean;
  /** Whether the home of an operation is the same at each site (G1). */
  readonly fixesHome: boolean;
}

export const CORRECT_PARTS: Parts = {
  HoldTable,
  Certifier: PartitionCertifier,
  Coordinator: GlobalCoordinator,
  findAwaitedStamps,
  savesHolds: true,
  waitsForDurable: true,
  fixesHome: true,
};

/** The rows that an operation reads and writes, and the partition of its home. */
export interface Rows {
  readonly home: number;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

export function getOthers({ home, reads, writes }: Rows): number[] {
  const logs = new Set([...reads, ...writes].map(getLog));
  logs.delete(home);
  return [...logs].toSorted((a, b) => a - b);
}

export function getRowsWritten({ effects }: RedOperation): readonly string[] {
  return effects.map(({ key }) => key);
}
