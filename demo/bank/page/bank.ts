/** The model of the page: two tellers, and the total that an auditor reads at the third site. */
import { createClient } from 'correctables';
import { exponentialBackoff, redblue } from 'correctables/bindings/redblue';
import { keyValue } from 'correctables/contract';
import { ACCOUNTS, findRichest, getNextAccount, type Account } from '../accounts.ts';
import { drawTransfers } from '../random-transfer.ts';
import type { Receipt } from '../receipt.ts';
import { LEADER, TELLER_SITES, toSitePath, type Delays, type Site } from '../sites.ts';
import { readTotal, type BankClient, type Transfer } from '../transfer.ts';
import { Teller } from './teller.ts';

const REFRESH_EVERY_MS = 400;
/** The pause between two automatic transfers of a teller. */
const PAUSE_MS = 700;
const RECONNECT_MS_MAX = 1_000;

export type Phase = 'connecting' | 'ready' | 'in flight' | 'failed';

/** The transfers by which both tellers spend the same money. */
export interface SameMoney extends Pick<Transfer, 'from' | 'euros'> {
  /** The receipts of the tellers, once both transfers have ended. */
  readonly receipts?: readonly Receipt[];
}

/** In euros. */
export interface Totals {
  readonly first: number;
  readonly latest: number;
  readonly reads: number;
  /** How many reads differ from the first one. */
  readonly changed: number;
}

export class Bank {
  readonly delays: Delays;
  readonly tellers: readonly Teller[];
  totals: Totals | undefined;
  sameMoney: SameMoney | undefined;
  readonly #auditor: BankClient;
  readonly #lost = new Set<Site>();
  readonly #onChange: () => void;
  #working: AbortController | undefined;
  #isSpending = false;

  constructor(delays: Delays, onChange: () => void) {
    this.delays = delays;
    this.#onChange = onChange;
    this.tellers = TELLER_SITES.map((site) => new Teller(site, this.#connect(site), onChange));
    this.#auditor = this.#connect(LEADER);
  }

  get phase(): Phase {
    if (this.#lost.size > 0) return 'failed';
    if (this.totals === undefined) return 'connecting';
    return this.tellers.some(({ inFlight }) => inFlight > 0) ? 'in flight' : 'ready';
  }

  get isWorking(): boolean {
    return this.#working !== undefined;
  }

  /** Whether both tellers can spend the same money now. */
  get canSpendSameMoney(): boolean {
    return !this.isWorking && !this.#isSpending && this.totals !== undefined;
  }

  /**
   * Reads the balances of the sites repeatedly, because other visitors change them too. Never ends.
   */
  async follow(): Promise<never> {
    for (;;) {
      // A failed read is repeated. The state of the connection shows the problem.
      await this.#refresh().catch(() => {});
      await pause(REFRESH_EVERY_MS);
    }
  }

  /** Lets each teller send all money of the richest account, at the same time. */
  async spendSameMoney(): Promise<void> {
    this.#isSpending = true;
    try {
      await this.#waitForSameBalances();
      const balances = this.tellers[0]?.balances ?? {};
      const from = findRichest(balances);
      const money = { from, euros: balances[from] ?? 0 };
      this.sameMoney = money;
      const moves = this.tellers.map((teller, at) =>
        teller.move({ ...money, to: getNextAccount(from, at + 1) }),
      );
      this.sameMoney = { ...money, receipts: await Promise.all(moves) };
    } finally {
      this.#isSpending = false;
      this.#onChange();
    }
  }

  /** Lets both tellers make transfers until `stop` is called. */
  work(): void {
    const working = (this.#working = new AbortController());
    this.sameMoney = undefined;
    for (const [at, teller] of this.tellers.entries())
      void makeTransfers(teller, Date.now() + at, working.signal);
    this.#onChange();
  }

  stop(): void {
    this.#working?.abort();
    this.#working = undefined;
    this.#onChange();
  }

  async #refresh(): Promise<void> {
    await Promise.all([...this.tellers.map((teller) => teller.refresh()), this.#audit()]);
  }

  async #audit(): Promise<void> {
    const latest = await readTotal(this.#auditor);
    const { first, reads, changed } = this.totals ?? { first: latest, reads: 0, changed: 0 };
    this.totals = {
      first,
      latest,
      reads: reads + 1,
      changed: changed + (latest === first ? 0 : 1),
    };
    this.#onChange();
  }

  /** A site may not have received the latest transfers of the other one yet. */
  async #waitForSameBalances(): Promise<void> {
    const [one, other] = this.tellers;
    const isSame = (account: Account): boolean =>
      one?.balances?.[account] === other?.balances?.[account];
    do await this.#refresh();
    while (this.tellers.some(({ inFlight }) => inFlight > 0) || !ACCOUNTS.every(isSame));
  }

  #connect(site: Site): BankClient {
    const url = new URL(`./${toSitePath(this.delays, site)}`, location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    const binding = redblue(keyValue, {
      url: url.href,
      reconnect: exponentialBackoff({ maxDelayMs: RECONNECT_MS_MAX }),
      onStateChange: (state) => {
        if (state === 'waiting' || state === 'closed') this.#lost.add(site);
        if (state === 'open') this.#lost.delete(site);
        this.#onChange();
      },
    });
    return createClient(binding);
  }
}

async function makeTransfers(teller: Teller, seed: number, signal: AbortSignal): Promise<void> {
  const draw = drawTransfers(seed);
  while (!signal.aborted) {
    await teller.move(draw());
    await pause(PAUSE_MS);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
