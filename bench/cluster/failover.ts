/**
 * How long blue writes are away after a site's process is killed, for its own clients, which move to another site, and for
 * those of other sites; how long the process takes until it serves again, with a million rows on its disk; and whether a
 * write that was acknowledged is lost, or applied twice.
 */
import { createClient, isCorrectableError, type Client } from 'correctables';
import { redblue, type RedBlueLevels } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { rangesFigure } from '../harness/figure.ts';
import { limitTime, reported, type GoalResult } from '../harness/goals.ts';
import { median, rounded } from '../harness/statistics.ts';
import { serverFlags } from '../load/processes.ts';
import { load } from '../load/service.ts';
import { SITES, startCluster, type Cluster, type SiteName } from './nodes.ts';

const FULL = { kills: 20, rows: 1_000_000 };
const QUICK = { kills: 2, rows: 20_000 };

/** Before a kill, and after it, that clients write. */
const BEFORE_MS = 500;
const AFTER_MS = 4000;
/** Clients of the site that is killed, and of each other one. */
const VICTIMS = 2;
const OTHERS = 1;
const FILL_WINDOW = 512;

interface KillRow {
  readonly site: SiteName;
  /** The longest time without an acknowledged write, of the client that waited longest. */
  readonly awaySeconds: number;
  readonly elsewhereSeconds: number;
  readonly backSeconds: number;
}

interface Totals {
  lost: number;
  repeated: number;
  unknown: number;
}

export const failover: Bench = {
  name: 'failover',
  about: "how long writes are away after a site's process is killed, and whether one is lost or applied twice",
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const { kills, rows: rowCount } = quick ? QUICK : FULL;
  const cluster = await startCluster();
  try {
    await fillRows(cluster, rowCount, progress);
    const rows: KillRow[] = [];
    const totals: Totals = { lost: 0, repeated: 0, unknown: 0 };
    for (let kill = 0; kill < kills; kill += 1) {
      const site = SITES[kill % SITES.length] as SiteName;
      progress(`kill ${kill + 1} of ${kills}: ${site}`);
      rows.push(await measureKill(cluster, site, { kill, totals }));
    }
    return {
      rounds: kills,
      rows: [...rows.map((row) => ({ ...row })), { rows: rowCount, ...totals }],
      bars: goalsOf(rows, totals),
      samples: rows,
      flags: serverFlags(),
      figures: { failover: plot(rows, rowCount) },
    };
  } finally {
    await cluster.stop();
  }
}

function goalsOf(rows: readonly KillRow[], { lost, repeated, unknown }: Totals): GoalResult[] {
  const of = (figure: 'awaySeconds' | 'elsewhereSeconds' | 'backSeconds'): number[] => rows.map((row) => row[figure]);
  return [
    reported('blue-away-seconds-p50', rounded(median(of('awaySeconds'))), 's'),
    limitTime('blue-away-seconds-max', Math.max(...of('awaySeconds')), { floor: 1.5 }, 's'),
    reported('blue-away-elsewhere-seconds-p50', rounded(median(of('elsewhereSeconds'))), 's'),
    reported('blue-away-elsewhere-seconds-max', Math.max(...of('elsewhereSeconds')), 's'),
    reported('node-back-seconds-p50', rounded(median(of('backSeconds'))), 's'),
    limitTime('node-back-seconds-max', Math.max(...of('backSeconds')), { floor: 10 }, 's'),
    limitTime('lost', lost, { floor: 0 }, 'writes'),
    limitTime('repeated', repeated, { floor: 0 }, 'writes'),
    reported('unknown', unknown, 'writes'),
  ];
}

/** Writes so many rows, so that a start has a state to read. */
async function fillRows({ nodes }: Cluster, count: number, progress: Settings['progress']): Promise<void> {
  const client = openClient([nodes[SITES[0]].siteUrl]);
  let next = 0;
  const fill = async (): Promise<void> => {
    while (next < count) {
      const account = `row:${next++}`;
      if (next % 50_000 === 0) progress(`${next} of ${count} rows written`);
      await client.invoke(load.deposit({ account, cents: 1 }));
    }
  };
  await Promise.all(Array.from({ length: FILL_WINDOW }, fill));
  await client.close();
}

/** One kill, with clients that write one operation after the other. */
async function measureKill(
  cluster: Cluster,
  victim: SiteName,
  { kill, totals }: { readonly kill: number; readonly totals: Totals },
): Promise<KillRow> {
  const { nodes } = cluster;
  const writers = SITES.flatMap((site) =>
    Array.from({ length: site === victim ? VICTIMS : OTHERS }, (_, n) => {
      const urls = [site, ...SITES.filter((name) => name !== site)].map((name) => nodes[name].siteUrl);
      return new Writer(site, `kill:${kill}:${site}:${n}`, urls);
    }),
  );
  const ends = writers.map((writer) => writer.run());
  await sleep(BEFORE_MS);
  const killedAtMs = performance.now();
  await nodes[victim].kill();
  await sleep(AFTER_MS);
  for (const writer of writers) writer.stop();
  await Promise.all(ends);
  const startedAtMs = performance.now();
  await nodes[victim].start();
  const backSeconds = (performance.now() - startedAtMs) / 1000;
  for (const writer of writers) await writer.verify(totals);
  const longest = (of: (writer: Writer) => boolean): number =>
    rounded(Math.max(...writers.filter(of).map((writer) => writer.longestGapMs(killedAtMs))) / 1000);
  return {
    site: victim,
    awaySeconds: longest(({ site }) => site === victim),
    elsewhereSeconds: longest(({ site }) => site !== victim),
    backSeconds: rounded(backSeconds),
  };
}

/** A client that writes to its own account, one write after the other. */
class Writer {
  readonly site: SiteName;
  readonly #account: string;
  readonly #client: Client<RedBlueLevels>;
  readonly #acknowledgedAtMs: number[] = [];
  #unknown = 0;
  #isStopped = false;

  constructor(site: SiteName, account: string, urls: readonly string[]) {
    this.site = site;
    this.#account = account;
    this.#client = openClient(urls);
  }

  async run(): Promise<void> {
    const client = this.#client;
    while (!this.#isStopped) {
      try {
        await client.invoke(load.deposit({ account: this.#account, cents: 1 }));
        this.#acknowledgedAtMs.push(performance.now());
      } catch (error) {
        if (!isCorrectableError(error)) throw error;
        if (error.code === 'UNKNOWN' || error.code === 'TIMEOUT') this.#unknown += 1;
        await sleep(10);
      }
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** The longest time without an acknowledged write from shortly before a moment on. */
  longestGapMs(fromMs: number): number {
    const times = this.#acknowledgedAtMs;
    let longest = 0;
    for (let index = 1; index < times.length; index += 1) {
      const [before, after] = [times[index - 1] as number, times[index] as number];
      if (after >= fromMs) longest = Math.max(longest, after - Math.max(before, fromMs));
    }
    return times.length === 0 || (times.at(-1) as number) < fromMs ? Infinity : longest;
  }

  /** Asks in the red order what the account holds. */
  async verify(totals: Totals): Promise<void> {
    const client = this.#client;
    const balance = await client.invokeStrong(load.balance({ account: this.#account }));
    const acknowledged = this.#acknowledgedAtMs.length;
    totals.lost += Math.max(0, acknowledged - balance);
    totals.repeated += Math.max(0, balance - acknowledged - this.#unknown);
    totals.unknown += this.#unknown;
    await client.close();
  }
}

function openClient(urls: readonly string[]): Client<RedBlueLevels> {
  const [first, ...others] = urls as [string, ...string[]];
  return createClient(redblue(load, { url: [first, ...others], WebSocket }));
}

function plot(rows: readonly KillRow[], rowCount: number): string {
  const range = (label: string, figure: 'awaySeconds' | 'elsewhereSeconds' | 'backSeconds', aim?: number) => {
    const values = rows.map((row) => row[figure]);
    const shown = { label, median: rounded(median(values)), min: Math.min(...values), max: Math.max(...values) };
    return aim === undefined ? shown : { ...shown, aim };
  };
  return rangesFigure(
    `A site's process is killed ${rows.length} times, with ${rowCount} rows on its disk`,
    'seconds (median and range of the kills; red: the aim)',
    [
      range('writes away, clients of that site', 'awaySeconds', 1.5),
      range('writes away, other clients', 'elsewhereSeconds'),
      range('process serves again', 'backSeconds', 10),
    ],
  );
}
