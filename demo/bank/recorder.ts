/**
 * Records the history of a run: transfers as the tellers see them, and strong reads by an auditor.
 */
import { isCorrectableError } from 'correctables';
import type { Account } from './accounts.ts';
import { followTransfer, type Receipt } from './receipt.ts';
import type { TellerSite } from './sites.ts';
import {
  endUnknownTransfer,
  readStatement,
  type BankClient,
  type Statement,
  type Transfer,
} from './transfer.ts';
import { selectLines, type HistoryLine } from './verify/history.ts';

/** The maximum number of rows in one read at the end. */
const ROWS_MAX = 500;

type WithoutTime<L> = L extends HistoryLine ? Omit<L, 'atMs'> : never;

export class Recorder {
  readonly history: HistoryLine[] = [];
  readonly #startedMs = performance.now();
  /**
   * The transfers that may have been made and that no strong read has found, with the accounts that
   * they are from.
   */
  readonly #open = new Map<string, Account>();
  readonly #refused = new Set<string>();
  #begun = 0;

  note(event: WithoutTime<HistoryLine>): void {
    this.history.push({ ...event, atMs: this.#getMs() } as HistoryLine);
  }

  /** Makes a transfer. Never rejects. */
  async makeTransfer(bank: BankClient, teller: TellerSite, transfer: Transfer): Promise<Receipt> {
    const id = `${teller}-${(this.#begun += 1)}`;
    this.#open.set(id, transfer.from);
    this.note({ kind: 'begun', id, teller, transfer });
    let isEarly = false;
    const receipt = await followTransfer(bank, id, transfer, ({ early, confirmed, refusal }) => {
      if (early === undefined || confirmed !== undefined || refusal !== undefined || isEarly)
        return;
      isEarly = true;
      this.note({ kind: 'early', id, balances: early.balances });
    });
    const { confirmed, refusal } = receipt;
    if (confirmed !== undefined) this.note({ kind: 'confirmed', id, balances: confirmed.balances });
    else if (refusal === undefined || refusal.kind === 'failed') this.note({ kind: 'unknown', id });
    else {
      this.note({ kind: 'refused', id, reason: refusal.kind });
      this.#refused.add(id);
    }
    return receipt;
  }

  /** Reads all balances repeatedly, until `signal` aborts. */
  async audit(bank: BankClient, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#read(bank);
      } catch (error) {
        // The tellers changed the accounts at each attempt, or a site was killed. The next read may
        // succeed.
        if (!isCorrectableError(error) || !error.retryable) throw error;
      }
    }
  }

  /** Reads what the bank has at the end. Call it when no transfer is in flight. */
  async close(bank: BankClient): Promise<void> {
    const begun = selectLines(this.history, 'begun');
    const unknown = new Set(selectLines(this.history, 'unknown').map(({ id }) => id));
    for (const { id, transfer } of begun)
      if (unknown.has(id)) await endUnknownTransfer(bank, id, transfer);
    await this.#read(bank);

    let last: Statement | undefined;
    for (let at = 0; last === undefined || at < begun.length; at += ROWS_MAX) {
      const rows = begun
        .slice(at, at + ROWS_MAX)
        .map(({ id, transfer }) => [id, transfer.from] as const);
      last = await readStatement(bank, rows);
      for (const [id] of rows) this.note({ kind: 'found', id, row: last.made.get(id) ?? null });
    }
    this.note({ kind: 'closed', balances: last.balances });
  }

  /** Reads all balances, and the rows of the transfers that no earlier read has found. */
  async #read(bank: BankClient): Promise<void> {
    const beganMs = this.#getMs();
    const refused = [...this.#refused];
    const { balances, made } = await readStatement(bank, [...this.#open]);
    this.note({ kind: 'read', balances, made: [...made.keys()], beganMs });
    // A transfer that was refused before the read began is looked for once.
    for (const id of [...made.keys(), ...refused]) this.#open.delete(id);
    for (const id of refused) this.#refused.delete(id);
  }

  #getMs(): number {
    return Math.round((performance.now() - this.#startedMs) * 1000) / 1000;
  }
}
