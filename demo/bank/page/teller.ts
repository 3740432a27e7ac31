/** A teller at one site: the balances there, and the transfers that this page has made. */
import { ACCOUNTS, type Account, type Balances } from '../accounts.ts';
import { followTransfer, getStatus, type Receipt } from '../receipt.ts';
import type { TellerSite } from '../sites.ts';
import { readBalances, type BankClient, type Transfer } from '../transfer.ts';

/** A balance as it is shown. */
export interface ShownBalance {
  readonly euros: number | undefined;
  readonly mark: 'early' | 'confirmed' | 'corrected' | 'taken back';
  /** The early balance that did not come true. */
  readonly takenBackEuros?: number | undefined;
}

export class Teller {
  readonly site: TellerSite;
  /** The receipts of the transfers, in the order in which they were sent. */
  readonly receipts: Receipt[] = [];
  readonly #bank: BankClient;
  readonly #onChange: () => void;
  #balances: Balances | undefined;
  /**
   * The number of transfers that have ended. A read that began before the latest end may be older
   * than the shown balances.
   */
  #ended = 0;

  constructor(site: TellerSite, bank: BankClient, onChange: () => void) {
    this.site = site;
    this.#bank = bank;
    this.#onChange = onChange;
  }

  /** The balances that the site has, without early ones. */
  get balances(): Balances | undefined {
    return this.#balances;
  }

  get inFlight(): number {
    return this.receipts.length - this.#ended;
  }

  /** Reads the balances that the site has by now. */
  async refresh(): Promise<void> {
    const ended = this.#ended;
    const balances = await readBalances(this.#bank);
    if (ended === this.#ended) this.#balances = balances;
    this.#onChange();
  }

  /** Makes a transfer. Never rejects. */
  async move(transfer: Transfer): Promise<Receipt> {
    const at = this.receipts.length;
    return await followTransfer(this.#bank, crypto.randomUUID(), transfer, (receipt) => {
      this.receipts[at] = receipt;
      if (receipt.confirmed !== undefined)
        this.#balances = { ...this.#balances, ...receipt.confirmed.balances };
      if (receipt.confirmed !== undefined || receipt.refusal !== undefined) this.#ended += 1;
      this.#onChange();
    });
  }

  /**
   * Returns the shown balance of each account. It depends on the latest transfer of the account.
   */
  show(): ReadonlyMap<Account, ShownBalance> {
    return new Map(ACCOUNTS.map((account) => [account, this.#showAccount(account)]));
  }

  #showAccount(account: Account): ShownBalance {
    const confirmed = this.#balances?.[account];
    const latest = this.receipts.findLast(
      ({ transfer: { from, to } }) => from === account || to === account,
    );
    if (latest === undefined) return { euros: confirmed, mark: 'confirmed' };

    const early = latest.early?.balances[account];
    const status = getStatus(latest);
    if (status === 'early') return { euros: early, mark: 'early' };
    if (status === 'taken back')
      return { euros: confirmed, mark: 'taken back', takenBackEuros: early };
    return { euros: confirmed, mark: latest.isCorrected === true ? 'corrected' : 'confirmed' };
  }
}
