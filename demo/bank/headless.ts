/**
 * Two tellers at two sites, without a page. First both spend the same last money at once, some
 * times; then each makes transfers of its own, while sites may be killed. An auditor at a third
 * site reads all balances meanwhile.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { pause } from '../tickets/pause.ts';
import { findRichest, getNextAccount } from './accounts.ts';
import { killSites } from './kill-sites.ts';
import { openInProcess, openProcesses, type OpenSites } from './open-sites.ts';
import type { Options } from './options.ts';
import { drawTransfers } from './random-transfer.ts';
import type { Receipt } from './receipt.ts';
import { Recorder } from './recorder.ts';
import { LEADER, TELLER_SITES, type Site, type TellerSite } from './sites.ts';
import { summarize, type Figures } from './summary.ts';
import { readBalances, readStatement, type BankClient } from './transfer.ts';
import { parseHistory, type HistoryLine } from './verify/history.ts';

/** How often both tellers spend the same money, at most. */
const DUELS = 5;
/** The pause of a teller whose transfer no site has taken. */
const UNAVAILABLE_PAUSE_MS = 250;

type Setting = Pick<Options, 'transfers' | 'delays' | 'seed' | 'partitions' | 'kill' | 'history'>;

/** Runs the scenario. `progress` gets lines for a person. */
export async function runTellers(
  options: Setting,
  progress: (text: string) => void,
): Promise<Figures> {
  // Open the file first, so that a wrong path is reported before the run.
  const file = options.history === undefined ? undefined : await create(options.history);
  const recorder = new Recorder();
  try {
    const tellers = await runAtSites(options, { recorder, progress });
    // Compute the verdict from the lines of the file, which anyone can check.
    return summarize(tellers, parseHistory(formatHistory(recorder.history)));
  } finally {
    await file?.writeFile(formatHistory(recorder.history));
    await file?.close();
  }
}

async function create(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'w');
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new Error(`--history: ${cause}. Name a file in a directory that exists.`, {
      cause: error,
    });
  }
}

function formatHistory(history: readonly HistoryLine[]): string {
  return history.map((line) => `${JSON.stringify(line)}\n`).join('');
}

interface Teller {
  readonly site: TellerSite;
  readonly bank: BankClient;
  readonly receipts: Receipt[];
}

interface Reporting {
  readonly recorder: Recorder;
  readonly progress: (text: string) => void;
}

async function runAtSites(options: Setting, reporting: Reporting): Promise<readonly Teller[]> {
  const sites = await openSites(options, reporting);
  const tellers = TELLER_SITES.map((site): Teller => ({
    site,
    bank: sites.connect(site),
    receipts: [],
  }));
  const auditor = sites.connect(LEADER);
  try {
    await work(options, reporting, { sites, tellers, auditor });
    return tellers;
  } finally {
    await Promise.all(
      [auditor, ...tellers.map(({ bank }) => bank)].map((client) => client.close()),
    );
    await sites.close();
  }
}

async function openSites(
  { partitions, kill, delays }: Setting,
  { recorder, progress }: Reporting,
): Promise<OpenSites> {
  if (kill === 0) return await openInProcess({ partitions, delays });
  progress('starting three sites, each a process of its own');
  const onMove = (client: Site, from: Site, to: Site): void => {
    recorder.note({ kind: 'moved', client, from, to });
    progress(`the client beside ${client}: moved from ${from} to ${to}`);
  };
  return await openProcesses({ partitions, onMove });
}

interface Bank {
  readonly sites: OpenSites;
  readonly tellers: readonly Teller[];
  readonly auditor: BankClient;
}

/**
 * Lets the tellers work while the auditor reads and sites are killed, and then reads what the bank
 * has.
 */
async function work(
  options: Setting,
  { recorder, progress }: Reporting,
  bank: Bank,
): Promise<void> {
  const { transfers, seed } = options;
  const { sites, tellers, auditor } = bank;
  const over = new AbortController();
  const makeTransfers = async (): Promise<void> => {
    const duels = Math.min(DUELS, transfers);
    for (let duel = 0; duel < duels; duel += 1) await spendSameMoney(auditor, tellers, recorder);
    progress(`both tellers spent the same money at once, ${duels} times`);

    const kills = new AbortController();
    const killing = killAll(
      options,
      { recorder, progress },
      { sites, signal: over.signal },
    ).finally(() => kills.abort());
    const working = tellers.map(async ({ site, bank, receipts }, at) => {
      const draw = drawTransfers(seed + at);
      while (!over.signal.aborted && (receipts.length < transfers || !kills.signal.aborted)) {
        const receipt = await recorder.makeTransfer(bank, site, draw());
        receipts.push(receipt);
        if (receipt.refusal?.kind === 'unavailable') await pause(UNAVAILABLE_PAUSE_MS, over.signal);
      }
    });
    await Promise.all([killing, ...working]);
  };
  const { balances } = await readStatement(auditor, []);
  recorder.note({ kind: 'opened', balances });
  await Promise.all([
    recorder.audit(auditor, over.signal),
    makeTransfers().finally(() => over.abort()),
    // If the auditor fails, the tellers stop too.
  ]).finally(() => over.abort());
  progress(
    `the tellers made ${tellers.map(({ receipts }) => receipts.length).join(' and ')} transfers`,
  );
  await recorder.close(auditor);
}

interface Killing {
  readonly sites: OpenSites;
  readonly signal: AbortSignal;
}

async function killAll(
  { kill, seed }: Setting,
  { recorder, progress }: Reporting,
  { sites, signal }: Killing,
): Promise<void> {
  if (sites.cluster === undefined) return;
  await killSites(sites.cluster, {
    kills: kill,
    seed,
    signal,
    onChange: (kind, site) => {
      recorder.note({ kind, site });
      progress(`${site}: ${KILL_WORDS[kind]}`);
    },
  });
}

const KILL_WORDS = {
  killed: 'kill -9',
  started: 'starts again',
  caughtUp: 'has caught up',
} as const;

/** Each teller sends all money of the richest account, to another one. */
async function spendSameMoney(
  auditor: BankClient,
  tellers: readonly Teller[],
  recorder: Recorder,
): Promise<void> {
  const balances = await readBalances(auditor);
  const from = findRichest(balances);
  const euros = balances[from] ?? 0;
  await waitForBalances(tellers, (found) => found[from] === euros);
  const sent = tellers.map(async ({ site, bank, receipts }, at) => {
    receipts.push(
      await recorder.makeTransfer(bank, site, { from, to: getNextAccount(from, at + 1), euros }),
    );
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
