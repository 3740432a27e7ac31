/**
 * Measures how long clients cannot execute blue writes after the process of a site is killed:
 * clients of this site, which move to another site, and clients of other sites. Also measures how
 * long the process takes until it serves again with a million rows on its disk, and checks that no
 * acknowledged write is lost or applied twice.
 */
import { createClient, type Client } from 'correctables';
import { redblue, type RedBlueLevels } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { estimate, limitTime, reported, type GoalResult } from '../harness/goals.ts';
import { rounded } from '../harness/statistics.ts';
import { processorTimeUs } from '../load/processor-time.ts';
import { serverFlags } from '../load/processes.ts';
import { load } from '../load/service.ts';
import { SITES, startCluster, type Cluster, type SiteName } from './nodes.ts';
import { countPerStep, Writer, longestWaitSeconds } from './writer.ts';

const FULL = { kills: 20, rows: 1_000_000 };
const QUICK = { kills: 2, rows: 20_000 };

/** The time until all clients are connected and write. */
const CONNECT_MS = 500;
/** How long clients write before a kill, and again after it. The two periods are compared. */
const WINDOW_MS = 3000;
/** Acknowledged writes are counted in steps of this length, so that a plot shows them over time. */
const STEP_MS = 100;
/** The number of clients of the killed site. The next constant is that of each other site. */
const VICTIMS = 2;
const OTHERS = 1;
/**
 * The number of rows that one write creates, so that a million rows do not take a million writes.
 */
const ROWS_PER_WRITE = 1000;
const FILL_WINDOW = 4;
/** The time limit within which all sites must have the same data, once all of them run. */
const CONVERGE_MS = 60_000;

/** The result of one kill. */
export interface KillRow {
  readonly site: SiteName;
  /** The longest time that a client of that site waited for an acknowledged write. */
  readonly awaySeconds: number;
  /** The same for clients of other sites. */
  readonly elsewhereSeconds: number;
  /** The same for clients of other sites, in a period of equal length before the kill. */
  readonly undisturbedSeconds: number;
  /** The time from the start of the process until it serves. */
  readonly backSeconds: number;
  /** The processor time that this start takes. */
  readonly backProcessorSeconds: number;
  readonly lost: number;
  readonly repeated: number;
  readonly unknown: number;
}

type Figure = Exclude<keyof KillRow, 'site'>;

/** The acknowledged writes of each step around a kill. The kill is in the middle. */
export interface Timeline {
  readonly stepMs: number;
  /** Those of the clients of the killed site. */
  readonly away: readonly number[];
  /** Those of the clients of other sites. */
  readonly elsewhere: readonly number[];
}

export const failover: Bench = {
  name: 'failover',
  about:
    "how long writes are away after a site's process is killed, and whether one is lost or applied twice",
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const { kills, rows: rowCount } = quick ? QUICK : FULL;
  const cluster = await startCluster();
  try {
    await fillRows(cluster, rowCount, progress);
    const measured: Measured[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      const site = SITES[kill % SITES.length] as SiteName;
      const times = await measureKill(cluster, site, kill);
      const {
        awaySeconds,
        elsewhereSeconds,
        undisturbedSeconds,
        backSeconds,
        backProcessorSeconds,
      } = times;
      const elsewhere = `elsewhere ${elsewhereSeconds} s (before: ${undisturbedSeconds} s)`;
      const back = `back ${backSeconds} s (${backProcessorSeconds} s of a processor)`;
      progress(
        `kill ${kill + 1} of ${kills}, ${site}: away ${awaySeconds} s, ${elsewhere}, ${back}`,
      );
      measured.push(times);
    }
    progress('compares what the sites have with what was acknowledged');
    const rows: KillRow[] = [];
    for (const { accounts, timeline: _, ...times } of measured)
      rows.push({ ...times, ...(await verify(cluster, accounts)) });
    return {
      rounds: kills,
      rows: rows.map((row) => ({ ...row, rows: rowCount })),
      bars: computeGoalResults(rows),
      samples: rows.map((row, kill) => ({ ...row, timeline: measured[kill]?.timeline })),
      flags: serverFlags(),
    };
  } finally {
    await cluster.stop();
  }
}

/** Compares the kills with the goals. */
export function computeGoalResults(rows: readonly KillRow[]): GoalResult[] {
  const of = (figure: Figure): number[] => rows.map((row) => row[figure]);
  const most = (figure: Figure): number => Math.max(...of(figure));
  const sum = (figure: Figure): number => of(figure).reduce((all, value) => all + value, 0);
  // A client counts as interrupted if it waits longer than any client does without a kill.
  const usualSeconds = most('undisturbedSeconds');
  const beyondUsual = of('elsewhereSeconds').map((seconds) => Math.max(0, seconds - usualSeconds));
  return [
    limitTime('blue-away-seconds', estimate(of('awaySeconds')), { floor: 1.5 }, 's'),
    reported('blue-away-seconds-max', most('awaySeconds'), 's'),
    limitTime('blue-away-elsewhere-seconds', estimate(beyondUsual), { floor: 0 }, 's'),
    reported('blue-away-elsewhere-seconds-max', rounded(Math.max(...beyondUsual)), 's'),
    reported('longest-wait-elsewhere-seconds', estimate(of('elsewhereSeconds')), 's'),
    reported('longest-wait-undisturbed-seconds', estimate(of('undisturbedSeconds')), 's'),
    limitTime('node-back-seconds', estimate(of('backSeconds')), { floor: 10 }, 's'),
    reported('node-back-seconds-max', most('backSeconds'), 's'),
    reported('node-back-processor-seconds', estimate(of('backProcessorSeconds')), 's'),
    limitTime('lost', sum('lost'), { floor: 0 }, 'writes'),
    limitTime('repeated', sum('repeated'), { floor: 0 }, 'writes'),
    reported('unknown', sum('unknown'), 'writes'),
  ];
}

/** Writes rows, so that a start has data to read. */
async function fillRows(
  { nodes }: Cluster,
  count: number,
  progress: Settings['progress'],
): Promise<void> {
  const client = openClient([nodes[SITES[0]].siteUrl]);
  let next = 0;
  const fill = async (): Promise<void> => {
    while (next < count) {
      const first = next;
      next = Math.min(count, next + ROWS_PER_WRITE);
      const accounts = Array.from({ length: next - first }, (_, n) => `row:${first + n}`);
      await client.invoke(load.depositToEach({ accounts, cents: 1 }));
      if (first % (100 * ROWS_PER_WRITE) === 0) progress(`writes row ${first} of ${count}`);
    }
  };
  await Promise.all(Array.from({ length: FILL_WINDOW }, fill));
  await client.close();
  // The other sites have all of them, too.
  for (const site of SITES) {
    const reader = openClient([nodes[site].siteUrl]);
    await reader.invokeStrong(load.balance({ account: 'row:0' }), { timeoutMs: 120_000 });
    await reader.close();
  }
}

/** Measures one kill, while clients execute one write after the other. */
async function measureKill({ nodes }: Cluster, victim: SiteName, kill: number): Promise<Measured> {
  const clients = SITES.flatMap((site) =>
    Array.from({ length: site === victim ? VICTIMS : OTHERS }, (_, n) => {
      const urls = [site, ...SITES.filter((name) => name !== site)].map(
        (name) => nodes[name].siteUrl,
      );
      const [name, client] = [`kill:${kill}:${site}:${n}`, openClient(urls)];
      return {
        site,
        name,
        client,
        writer: new Writer(() => client.invoke(load.deposit({ account: name, cents: 1 }))),
      };
    }),
  );
  const ends = clients.map(({ writer }) => writer.run());
  await sleep(CONNECT_MS);
  const fromMs = performance.now();
  await sleep(WINDOW_MS);
  const killedAtMs = performance.now();
  await nodes[victim].kill();
  await sleep(WINDOW_MS);
  for (const { writer } of clients) writer.stop();
  await Promise.all(ends);
  const endedAtMs = performance.now();
  await nodes[victim].start();
  const backSeconds = (performance.now() - endedAtMs) / 1000;
  const processorUs = processorTimeUs(nodes[victim].pid) ?? NaN;
  await Promise.all(clients.map(({ client }) => client.close()));
  const find = (isVictim: boolean): Writer[] =>
    clients.filter(({ site }) => (site === victim) === isVictim).map(({ writer }) => writer);
  const steps = {
    fromMs: killedAtMs - WINDOW_MS,
    stepMs: STEP_MS,
    count: (2 * WINDOW_MS) / STEP_MS,
  };
  return {
    site: victim,
    awaySeconds: longestWaitSeconds(find(true), killedAtMs, endedAtMs),
    elsewhereSeconds: longestWaitSeconds(find(false), killedAtMs, endedAtMs),
    undisturbedSeconds: longestWaitSeconds(find(false), fromMs, killedAtMs),
    backSeconds: rounded(backSeconds),
    backProcessorSeconds: rounded(processorUs / 1e6),
    timeline: {
      stepMs: STEP_MS,
      away: countPerStep(find(true), steps),
      elsewhere: countPerStep(find(false), steps),
    },
    accounts: clients.map(({ name, writer: { acknowledged, unknown } }) => ({
      name,
      acknowledged,
      unknown,
    })),
  };
}

/**
 * Waits until all sites have the same data, and compares the balances at each site with the
 * acknowledged writes.
 */
async function verify({ nodes }: Cluster, accounts: readonly Account[]): Promise<Totals> {
  const readers = SITES.map((site) => openClient([nodes[site].siteUrl]));
  const totals = { lost: 0, repeated: 0, unknown: 0 };
  for (const { name, acknowledged, unknown } of accounts) {
    const untilMs = performance.now() + CONVERGE_MS;
    for (;;) {
      const balances = await Promise.all(
        readers.map((reader) => reader.invokeStrong(load.balance({ account: name }))),
      );
      const [least, most] = [Math.min(...balances), Math.max(...balances)];
      const isSettled = least === most && least >= acknowledged;
      if (!isSettled && performance.now() < untilMs) continue;
      totals.lost += Math.max(0, acknowledged - least);
      totals.repeated += Math.max(0, most - acknowledged - unknown);
      totals.unknown += unknown;
      break;
    }
  }
  await Promise.all(readers.map((reader) => reader.close()));
  return totals;
}

type Totals = Pick<KillRow, 'lost' | 'repeated' | 'unknown'>;

/** The account to which a client writes. */
interface Account {
  readonly name: string;
  readonly acknowledged: number;
  readonly unknown: number;
}

/** The result of a kill before the accounts are compared. */
interface Measured extends Omit<KillRow, keyof Totals> {
  readonly timeline: Timeline;
  readonly accounts: readonly Account[];
}

function openClient(urls: readonly string[]): Client<RedBlueLevels> {
  const [first, ...others] = urls as [string, ...string[]];
  return createClient(redblue(load, { url: [first, ...others], WebSocket }));
}
