/** The figures of a run without a page: the verdict of its history, and what the tellers saw. */
import { percentilesOf, type Percentiles } from '../tickets/verify/percentiles.ts';
import { getStatus, type Receipt } from './receipt.ts';
import { SITES, type Site, type TellerSite } from './sites.ts';
import { selectLines, type HistoryLine } from './verify/history.ts';
import { verifyHistory, type Verdict } from './verify/verify-history.ts';

interface Latencies {
  /** The time from the call to the first early view. */
  readonly tentativeMs: Percentiles;
  /** The time from the call to the confirmed result. */
  readonly strongMs: Percentiles;
}

export interface Figures extends Latencies, Verdict {
  /** Transfers that were refused because there was not enough money. */
  readonly refused: number;
  /** Transfers that were given up, because other transfers changed the accounts at each attempt. */
  readonly conflicts: number;
  /** Transfers that no site has taken. */
  readonly unavailable: number;
  /** Transfers that were refused or given up after an early view had shown them. */
  readonly takenBack: number;
  /** Transfers that were committed with other balances than in the first early view. */
  readonly corrected: number;
  readonly tellers: Readonly<Record<TellerSite, Latencies>>;
  readonly kills: Kills;
}

interface Kills {
  readonly count: number;
  readonly perSite: Readonly<Record<Site, number>>;
  /**
   * The time from the start of a process until its site has all operations that were ordered
   * meanwhile.
   */
  readonly backAfterMs: Percentiles;
  /** How often a client moved to another site. */
  readonly moves: number;
}

/** What a teller saw of its transfers. */
export interface TellerReceipts {
  readonly site: TellerSite;
  readonly receipts: readonly Receipt[];
}

export function summarize(
  tellers: readonly TellerReceipts[],
  history: readonly HistoryLine[],
): Figures {
  const receipts = tellers.flatMap((teller) => teller.receipts);
  const count = (isCounted: (receipt: Receipt) => boolean): number =>
    receipts.filter(isCounted).length;
  const perTeller = tellers.map(({ site, receipts }) => [site, measure(receipts)] as const);
  return {
    ...verifyHistory(history),
    refused: count(({ refusal }) => refusal?.kind === 'not enough'),
    conflicts: count(({ refusal }) => refusal?.kind === 'conflict'),
    unavailable: count(({ refusal }) => refusal?.kind === 'unavailable'),
    takenBack: count((receipt) => getStatus(receipt) === 'taken back'),
    corrected: count(
      ({ confirmed, isCorrected }) => confirmed !== undefined && isCorrected === true,
    ),
    ...measure(receipts),
    tellers: Object.fromEntries(perTeller) as Figures['tellers'],
    kills: countKills(history),
  };
}

function measure(receipts: readonly Receipt[]): Latencies {
  const early = receipts.flatMap((receipt) => receipt.early?.ms ?? []);
  const confirmed = receipts.flatMap((receipt) => receipt.confirmed?.ms ?? []);
  return { tentativeMs: percentilesOf(early), strongMs: percentilesOf(confirmed) };
}

function countKills(history: readonly HistoryLine[]): Kills {
  const killed = selectLines(history, 'killed');
  const started = selectLines(history, 'started');
  // There is one kill at a time, so the lines of both kinds alternate.
  const backAfter = selectLines(history, 'caughtUp').map(
    ({ atMs }, at) => atMs - (started[at]?.atMs ?? atMs),
  );
  const perSite = SITES.map(
    (name) => [name, killed.filter(({ site }) => site === name).length] as const,
  );
  return {
    count: killed.length,
    perSite: Object.fromEntries(perSite) as Kills['perSite'],
    backAfterMs: percentilesOf(backAfter),
    moves: selectLines(history, 'moved').length,
  };
}

/** Describes the result of a run in a sentence. */
export function describeRun({ ok, transfers, total, kills }: Figures): string {
  const faults = formatKills(kills);
  if (!ok)
    return `FAILED: the checker found faults in ${transfers} transfers${faults}: see the figures above.`;
  return (
    `The total was €${total.before} at each of ${total.reads} strong reads, and none of ${transfers} transfers was ` +
    `lost or made twice${faults}.`
  );
}

function formatKills({ count }: Kills): string {
  if (count === 0) return '';
  return count === 1 ? ', while a site was killed' : `, while sites were killed ${count} times`;
}
