/**
 * Judges a run of the bank by its history alone.
 *
 * It compares what the tellers were answered, the rows that transfers leave, and the balances. The
 * order of two transfers is judged only as far as reads show it.
 */
import { ACCOUNTS } from '../accounts.ts';
import type { Transfer } from '../transfer.ts';
import {
  apply,
  followTransfers,
  hasRow,
  type Balances,
  type Followed,
} from './follow-transfers.ts';
import { selectLines, type HistoryLine, type LineKind, type LineOf } from './history.ts';
import { judgeReads, type ReadFaults } from './judge-reads.ts';

/** In euros, by strong reads. */
export interface Total {
  readonly before: number;
  readonly after: number;
  /** How often all balances were read, at one moment each. */
  readonly reads: number;
  /** How many of these totals differ from the first one. */
  readonly changed: number;
}

/** How often each kind of fault occurred. */
export interface Faults extends ReadFaults {
  /** Transfers that were confirmed or found by a strong read, and have no row at the end. */
  readonly lost: number;
  /** Transfers that were refused, and were made. */
  readonly refusedButMade: number;
  /** Transfers whose row has other accounts or another amount. */
  readonly altered: number;
  /**
   * Accounts whose balance at the end is not the first one plus all transfers with a row: a
   * transfer was made twice, or in part.
   */
  readonly repeated: number;
  /** Transfers without a begin or an end, or whose row was not looked for at the end. */
  readonly incomplete: number;
}

export interface Verdict extends Faults {
  readonly transfers: number;
  readonly committed: number;
  /** Transfers without an answer. */
  readonly unknown: number;
  readonly unknownMade: number;
  readonly unknownNotMade: number;
  readonly total: Total;
  /** Whether there is no fault, and the total has not changed. */
  readonly ok: boolean;
}

/**
 * Judges a history.
 *
 * @throws Error if the balances at the start or at the end are missing
 */
export function verifyHistory(history: readonly HistoryLine[]): Verdict {
  const opening = findOnly(history, 'opened').balances;
  const closing = findOnly(history, 'closed').balances;
  const reads = selectLines(history, 'read');
  const transfers = followTransfers(history);
  const readFaults = judgeReads(reads, transfers, opening);

  const all = [...transfers.values()];
  const count = (isCounted: (transfer: Followed) => boolean): number =>
    all.filter(isCounted).length;
  const expected = all.flatMap(({ row }) => row ?? []).reduce<Balances>(apply, opening);
  const faults: Faults = {
    lost: count(({ end, isShown, row }) => (end === 'confirmed' || isShown) && row === null),
    refusedButMade: count((transfer) => transfer.end === 'refused' && isMade(transfer)),
    altered: count(isAltered),
    repeated: ACCOUNTS.filter((account) => closing[account] !== expected[account]).length,
    incomplete: count(
      ({ requested, end, row }) =>
        requested === undefined || end === undefined || row === undefined,
    ),
    ...readFaults,
  };
  const total = judgeTotals(opening, reads, closing);
  return {
    transfers: all.length,
    committed: count(({ end }) => end === 'confirmed'),
    unknown: count(({ end }) => end === 'unknown'),
    unknownMade: count((transfer) => transfer.end === 'unknown' && isMade(transfer)),
    unknownNotMade: count((transfer) => transfer.end === 'unknown' && !isMade(transfer)),
    total,
    ...faults,
    ok: total.changed === 0 && Object.values(faults).every((found) => found === 0),
  };
}

function findOnly<K extends LineKind>(history: readonly HistoryLine[], kind: K): LineOf<K> {
  const lines = selectLines(history, kind);
  if (lines.length === 1) return lines[0] as LineOf<K>;
  throw new Error(
    `the history must have one line "${kind}", and has ${lines.length}: it is not that of one whole run. ` +
      'Run demo:bank --headless --history FILE again, and let it end.',
  );
}

function judgeTotals(
  opening: Balances,
  reads: readonly LineOf<'read'>[],
  closing: Balances,
): Total {
  const before = sum(opening);
  const after = sum(closing);
  const changed = [...reads.map(({ balances }) => sum(balances)), after].filter(
    (total) => total !== before,
  ).length;
  return { before, after, reads: reads.length, changed };
}

function isMade(transfer: Followed): boolean {
  return hasRow(transfer) || transfer.isShown;
}

function isAltered({ requested, row }: Followed): boolean {
  return requested !== undefined && row !== undefined && row !== null && !isSame(requested, row);
}

function isSame(one: Transfer, other: Transfer): boolean {
  return one.from === other.from && one.to === other.to && one.euros === other.euros;
}

function sum(balances: Balances): number {
  return ACCOUNTS.reduce((total, account) => total + balances[account], 0);
}
