/** The receipt of one transfer: its early view, and its outcome. */
import { isCorrectableError } from 'correctables';
import { ACCOUNTS, type Balances } from './accounts.ts';
import { NotEnough, transfer, type BankClient, type Transfer } from './transfer.ts';

/** Balances after a transfer, and when the teller saw them. */
export interface SeenBalances {
  readonly balances: Balances;
  /** Since the transfer was sent, in milliseconds. */
  readonly ms: number;
}

/** Why a transfer was not made. After `failed` it may have been made, or may be made later. */
export type Refusal =
  | { readonly kind: 'not enough'; readonly balance: number }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'failed' };

export interface Receipt {
  readonly transfer: Transfer;
  /** The latest view before the final one; its time is that of the first. */
  readonly early?: SeenBalances;
  /** Whether a later view has replaced balances that had been shown. */
  readonly isCorrected?: boolean;
  readonly confirmed?: SeenBalances;
  readonly refusal?: Refusal & { readonly ms: number };
}

/**
 * `early`: a result is shown that is not certain yet. `taken back`: a result was shown that did not
 * come true.
 */
export type Status = 'sent' | 'early' | 'confirmed' | 'refused' | 'taken back' | 'unknown';

export function getStatus({ early, confirmed, refusal }: Receipt): Status {
  if (confirmed !== undefined) return 'confirmed';
  if (refusal === undefined) return early === undefined ? 'sent' : 'early';
  if (refusal.kind === 'failed') return 'unknown';
  return early === undefined ? 'refused' : 'taken back';
}

/**
 * Makes a transfer, and calls `onChange` with each new state of its receipt. Never rejects.
 *
 * @param id an identifier that no other transfer has
 */
export async function followTransfer(
  bank: BankClient,
  id: string,
  requested: Transfer,
  onChange: (receipt: Receipt) => void = () => {},
): Promise<Receipt> {
  let receipt: Receipt = { transfer: requested };
  const startedMs = performance.now();
  const getMs = (): number => performance.now() - startedMs;
  const change = (changes: Partial<Receipt>): void =>
    onChange((receipt = { ...receipt, ...changes }));
  const isCorrectedBy = (balances: Balances): boolean =>
    receipt.isCorrected === true ||
    (receipt.early !== undefined && !haveSame(receipt.early.balances, balances));

  change({});
  const views = transfer(bank, id, requested);
  views.onUpdate((balances) => {
    const isCorrected = isCorrectedBy(balances);
    change({ early: { balances, ms: receipt.early?.ms ?? getMs() }, isCorrected });
  });
  try {
    const balances = await views;
    change({ confirmed: { balances, ms: getMs() }, isCorrected: isCorrectedBy(balances) });
  } catch (error) {
    change({ refusal: { ...toRefusal(error), ms: getMs() } });
  }
  return receipt;
}

function haveSame(some: Balances, others: Balances): boolean {
  return ACCOUNTS.every((account) => some[account] === others[account]);
}

function toRefusal(error: unknown): Refusal {
  if (isCorrectableError(error, 'CONFLICT')) return { kind: 'conflict' };
  const isFinal = isCorrectableError(error, 'FINAL_FAILED');
  if (isFinal && error.cause instanceof NotEnough)
    return { kind: 'not enough', balance: error.cause.balance };
  // The store has not taken the commit.
  if (isCorrectableError(error) && error.retryable) return { kind: 'unavailable' };
  return { kind: 'failed' };
}
