/**
 * Two tellers at two sites, without a page. First both spend the same last money at once, some times; then each makes
 * transfers of its own. An auditor at a third site reads the total meanwhile.
 */
import { createClient, isCorrectableError } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { keyValue } from 'correctables/contract';
import { WebSocket } from 'ws';
import { percentilesOf, type Percentiles } from '../tickets/verify/percentiles.ts';
import { findRichest, getNextAccount } from './accounts.ts';
import type { Options } from './options.ts';
import { drawTransfers } from './random-transfer.ts';
import { followTransfer, getStatus, type Receipt } from './receipt.ts';
import { startSites } from './server.ts';
import { LEADER, TELLER_SITES, type TellerSite } from './sites.ts';
import { readBalances, readTotal, type BankClient } from './transfer.ts';

/** How often both tellers spend the same money, at most. */
const DUELS = 5;

interface Latencies {
  /** The time from the call to the first early view. */
  readonly tentativeMs: Percentiles;
  /** The time from the call to the confirmed result. */
  readonly strongMs: Percentiles;
}

export interface Figures extends Latencies {
  readonly transfers: number;
  readonly committed: number;
  /** Transfers that were refused because there was not enough money. */
  readonly refused: number;
  /** Transfers that were given up, because other transfers changed the accounts at each attempt. */
  readonly conflicts: number;
  /** Transfers without an answer, which may have been made. */
  readonly unknown: number;
  /** Transfers that were refused or given up after an early view had shown them. */
  readonly takenBack: number;
  /** Transfers that were committed with other balances than in the first early view. */
  readonly corrected: number;
  readonly tellers: Readonly<Record<TellerSite, Latencies>>;
  readonly total: Total;
}

/** In euros, by strong reads. */
export interface Total {
  readonly before: number;
  readonly after: number;
  /** How often it was read, at one moment each, while the tellers worked. */
  readonly reads: number;
  /** How many of all reads differ from the first one. */
  readonly changed: number;
}

/** Runs the scenario. `progress` gets lines for a person. */
export async function runTellers(
  { transfers, delays, seed, partitions }: Pick<Options, 'transfers' | 'delays' | 'seed' | 'partitions'>,
  progress: (text: string) => void,
): Promise<Figures> {
  const sites = await startSites({ partitions });
  const connect = (site: Parameters<typeof sites.siteUrl>[1]): BankClient =>
    createClient(redblue(keyValue, { url: sites.siteUrl(delays, site), WebSocket }));
  const tellers = TELLER_SITES.map((site) => ({ site, bank: connect(site), receipts: [] as Receipt[] }));
  const auditor = connect(LEADER);
  try {
    const before = await readTotal(auditor);
    const auditing = new AbortController();
    const audit = readTotals(auditor, auditing.signal);

    const duels = Math.min(DUELS, transfers);
    for (let duel = 0; duel < duels; duel += 1) await spendSameMoney(auditor, tellers);
    progress(`both tellers spent the same money at once, ${duels} times`);
    await Promise.all(tellers.map((teller, at) => work(teller, { count: transfers - duels, seed: seed + at })));
    progress(`each teller made ${transfers} transfers`);

    auditing.abort();
    const totals = await audit;
    const after = await readTotal(auditor);
    const changed = [...totals, after].filter((total) => total !== before).length;
    return summarize(tellers, { before, after, reads: totals.length, changed });
  } finally {
    await Promise.all([auditor, ...tellers.map(({ bank }) => bank)].map((client) => client.close()));
    await sites.close();
  }
}

interface Teller {
  readonly site: TellerSite;
  readonly bank: BankClient;
  readonly receipts: Receipt[];
}

/** Reads the total until `signal` aborts. */
async function readTotals(auditor: BankClient, signal: AbortSignal): Promise<number[]> {
  const totals: number[] = [];
  while (!signal.aborted) {
    try {
      totals.push(await readTotal(auditor));
    } catch (error) {
      // The tellers changed the accounts at each attempt. The next read may succeed.
      if (!isCorrectableError(error, 'CONFLICT')) throw error;
    }
  }
  return totals;
}

/** Each teller sends all money of the richest account, to another one. */
async function spendSameMoney(auditor: BankClient, tellers: readonly Teller[]): Promise<void> {
  const balances = await readBalances(auditor);
  const from = findRichest(balances);
  const euros = balances[from] ?? 0;
  await waitForBalances(tellers, (found) => found[from] === euros);
  const sent = tellers.map(async ({ bank, receipts }, at) => {
    receipts.push(await followTransfer(bank, { from, to: getNextAccount(from, at + 1), euros }));
  });
  await Promise.all(sent);
}

/** A site may not have received the latest transfers of the others yet. */
async function waitForBalances(
  tellers: readonly Teller[],
  isReached: (balances: Awaited<ReturnType<typeof readBalances>>) => boolean,
): Promise<void> {
  for (const { bank } of tellers) while (!isReached(await readBalances(bank)));
}

async function work(
  { bank, receipts }: Teller,
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<void> {
  const draw = drawTransfers(seed);
  for (let made = 0; made < count; made += 1) receipts.push(await followTransfer(bank, draw()));
}

function summarize(tellers: readonly Teller[], total: Total): Figures {
  const receipts = tellers.flatMap((teller) => teller.receipts);
  const count = (isCounted: (receipt: Receipt) => boolean): number => receipts.filter(isCounted).length;
  const perTeller = tellers.map(({ site, receipts }) => [site, measure(receipts)] as const);
  return {
    transfers: receipts.length,
    committed: count(({ confirmed }) => confirmed !== undefined),
    refused: count(({ refusal }) => refusal?.kind === 'not enough'),
    conflicts: count(({ refusal }) => refusal?.kind === 'conflict'),
    unknown: count(({ refusal }) => refusal?.kind === 'failed'),
    takenBack: count((receipt) => getStatus(receipt) === 'taken back'),
    corrected: count(({ confirmed, isCorrected }) => confirmed !== undefined && isCorrected === true),
    ...measure(receipts),
    tellers: Object.fromEntries(perTeller) as Figures['tellers'],
    total,
  };
}

function measure(receipts: readonly Receipt[]): Latencies {
  const early = receipts.flatMap((receipt) => receipt.early?.ms ?? []);
  const confirmed = receipts.flatMap((receipt) => receipt.confirmed?.ms ?? []);
  return { tentativeMs: percentilesOf(early), strongMs: percentilesOf(confirmed) };
}
