/**
 * TPC-W at one to five sites, with its three mixes (RedBlue, OSDI 2012, Figures 12 to 14 and Table 4). All sites and all
 * users share this machine: what more sites bring in interactions a second is limited by its processors, not by the paper's
 * machines, of which it had one a site.
 */
import type { Report } from '../../demo/case-studies/run.ts';
import { runStudy } from '../../demo/case-studies/run.ts';
import { studyOf } from '../../demo/case-studies/studies.ts';
import { atMost, estimate, reported, type Bar } from '../harness/bars.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { versionsOf } from '../harness/provenance.ts';
import { median, rounded } from '../harness/statistics.ts';

interface Setting {
  readonly sites: number;
  readonly mix: string;
}

/** Figure 13 has the shopping mix at one to five sites, Figure 14 all mixes at two. */
const SETTINGS: readonly Setting[] = [
  { sites: 1, mix: 'shopping' },
  { sites: 2, mix: 'shopping' },
  { sites: 3, mix: 'shopping' },
  { sites: 4, mix: 'shopping' },
  { sites: 5, mix: 'shopping' },
  { sites: 2, mix: 'browsing' },
  { sites: 2, mix: 'ordering' },
];

/** Of all shadow operations, those that are blue: Table 4. */
const PAPER_BLUE: Readonly<Record<string, number>> = { shopping: 0.992, browsing: 0.995, ordering: 0.936 };
/** Two points of a percentage. */
const BLUE_AIM = 0.02;

/** Users of all sites together, each with one request under way, as the paper's: enough to keep the processors busy. */
const USERS = 60;
/** The exemplars of Figure 12. */
const BLUE_REQUEST = 'shoppingCart';
const RED_REQUEST = 'buyConfirm';

interface Round {
  readonly setting: Setting;
  readonly report: Report;
}

export const tpcw: Bench = {
  name: 'tpcw',
  about: "TPC-W's bookstore at one to five sites: interactions a second, latency and share of red, by mix",
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const rounds = quick ? 1 : 6;
  const [seconds, scale] = quick ? [2, 0.005] : [10, 0.02];
  const study = await studyOf('tpcw');
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const setting of SETTINGS) {
      progress(`tpcw: round ${round + 1} of ${rounds}, ${setting.sites} sites, ${setting.mix}`);
      const users = Math.round(USERS / setting.sites);
      const options = { ...setting, study, users, scale, seconds, think: 0, wan: 'paper', seed: round + 1 } as const;
      const report = await runStudy(options, () => {});
      if (!report.sound) throw new Error(`an invariant is broken: ${JSON.stringify(report.audits)}`);
      measured.push({ setting, report });
    }
  }
  const samples = measured.map(({ report }) => report);
  const rows = SETTINGS.map((setting) => rowOf(setting, reportsOf(measured, setting)));
  return { rounds, rows, bars: barsOf(measured), samples, versions: versionsOf('ws'), figures: {} };
}

function reportsOf(measured: readonly Round[], { sites, mix }: Setting): readonly Report[] {
  return measured.filter(({ setting }) => setting.sites === sites && setting.mix === mix).map(({ report }) => report);
}

/** Medians of the rounds. */
function rowOf({ sites, mix }: Setting, reports: readonly Report[]): Readonly<Record<string, unknown>> {
  const middle = (of: (report: Report) => number | null | undefined): number | null => {
    const values = reports.map(of).filter((value) => typeof value === 'number');
    return values.length === 0 ? null : rounded(median(values));
  };
  return {
    sites,
    mix,
    interactionsPerSecond: middle((report) => report.interactionsPerSecond),
    blue: middle(({ shares }) => shares.blue),
    red: middle(({ shares }) => shares.red),
    readOnly: middle(({ shares }) => shares.readOnly),
    update: middle(({ shares }) => shares.update),
    shoppingCartP50Ms: middle(({ requests }) => requests[BLUE_REQUEST]?.blue?.p50),
    buyConfirmP50Ms: middle(({ requests }) => requests[RED_REQUEST]?.red?.p50),
    failures: reports.reduce(
      (sum, { failures }) => sum + Object.values(failures).reduce((all, each) => all + each, 0),
      0,
    ),
  };
}

function barsOf(measured: readonly Round[]): Bar[] {
  const at = (sites: number, mix: string): readonly Report[] => reportsOf(measured, { sites, mix });
  const [one, five] = [at(1, 'shopping'), at(5, 'shopping')];
  const gain = five.map((report, round) => report.interactionsPerSecond / (one[round]?.interactionsPerSecond ?? NaN));
  return [
    reported('five-sites-vs-one', estimate(gain)),
    ...Object.entries(PAPER_BLUE).map(([mix, blue]) => {
      const apart = at(2, mix).map(({ shares }) => Math.abs(shares.blue - blue));
      return atMost(`blue-share-${mix}`, estimate(apart), { aim: BLUE_AIM }, 'fraction');
    }),
  ];
}
