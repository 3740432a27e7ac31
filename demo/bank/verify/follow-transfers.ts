/** Collects what a history has about each transfer. */
import type { Account } from '../accounts.ts';
import type { Transfer } from '../transfer.ts';
import { selectLines, type HistoryLine } from './history.ts';

export type Balances = Record<Account, number>;

/** A transfer as the history shows it. */
export interface Followed {
  teller?: string;
  requested?: Transfer;
  /** `Infinity` if it has not begun. */
  begunMs: number;
  end?: 'confirmed' | 'refused' | 'unknown';
  /** `Infinity` if it has not ended. */
  endedMs: number;
  /** The row at the end; `null` without one, and `undefined` if it was not looked for. */
  row?: Transfer | null;
  /** Whether a strong read has found it. */
  isShown: boolean;
}

/** Returns the transfers by their identifiers. */
export function followTransfers(history: readonly HistoryLine[]): Map<string, Followed> {
  const transfers = new Map<string, Followed>();
  const follow = (id: string, changes: Partial<Followed>): void => {
    const transfer = transfers.get(id) ?? { begunMs: Infinity, endedMs: Infinity, isShown: false };
    transfers.set(id, Object.assign(transfer, changes));
  };
  for (const { id, teller, transfer, atMs } of selectLines(history, 'begun')) {
    follow(id, { teller, requested: transfer, begunMs: atMs });
  }
  for (const end of ['confirmed', 'refused', 'unknown'] as const) {
    for (const { id, atMs } of selectLines(history, end)) follow(id, { end, endedMs: atMs });
  }
  for (const { made } of selectLines(history, 'read')) for (const id of made) follow(id, {});
  for (const { id, row } of selectLines(history, 'found')) follow(id, { row });
  return transfers;
}

export function hasRow({ row }: Followed): boolean {
  return row !== undefined && row !== null;
}

/** Returns the balances after a transfer. */
export function apply(balances: Balances, { from, to, euros }: Transfer): Balances {
  return { ...balances, [from]: balances[from] - euros, [to]: balances[to] + euros };
}
