/**
 * A soak run: a cluster of three processes under steady load. What its sites hold must not grow.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster, startClusterOnEtcd } from '../chaos/cluster-deployment.ts';
import type { ChaosDeployment } from '../chaos/deployment.ts';
import { buildPatched } from '../chaos/injected-bugs.ts';
import type { Engine } from '../chaos/options.ts';
import { Counter } from '../histories/counter.ts';
import { pause } from '../histories/pause.ts';
import { fill, openClient, work } from './load.ts';
import { takeSample, type Figure, type Sample } from './nodes.ts';
import { fitSlope, judgeSlope, type Slope, type Verdict } from './slope.ts';

/**
 * Between two checkpoints a site notes what has changed: the heap rises by some 10 MB, and falls
 * again. With an eighth of the log between them it does so often enough for a line to be fitted.
 */
const FREQUENT_CHECKPOINTS = [
  ['CHECKPOINT_BYTES = 32 * 1024 * 1024', 'CHECKPOINT_BYTES = 4 * 1024 * 1024'],
] as const;
const SAMPLER = new URL('sampler.mjs', import.meta.url).href;
/** More than the load needs: what is not trimmed is to be seen, not refused. */
const ETCD_QUOTA_BYTES = 512 * 1024 * 1024;
const MINUTE_MS = 60_000;
const MEGABYTE = 1e6;
/**
 * With so many updates each site remembers as many answers of others as it may. They come before
 * the minutes of the run.
 */
const FILL_UPDATES = 165_000;
const FILL_MAX_MS = 20 * MINUTE_MS;
/** So much of a run is not judged: code is compiled, and pools find their sizes. */
const WARM_UP_SHARE = 0.25;
const SAMPLES = 120;
const MIN_INTERVAL_MS = 2_000;
/** From this length on the slope itself is judged, else its interval. */
const LONG_MINUTES = 30;
const CLIENTS_PER_SITE = 2;

interface Bound {
  /** How much may be gained or lost in an hour. */
  readonly perHour: number;
  /**
   * How much comes and goes with checkpoints and tables that are made larger: no growth that a
   * short run can tell.
   */
  readonly swing: number;
}

/** What is judged. */
const BOUNDS: Readonly<Partial<Record<Figure, Bound>>> = {
  heapBytes: { perHour: 5 * MEGABYTE, swing: 3 * MEGABYTE },
  openFiles: { perHour: 5, swing: 3 },
  etcdBytes: { perHour: 5 * MEGABYTE, swing: 3 * MEGABYTE },
};

export interface SoakOptions {
  readonly minutes: number;
  readonly operationsPerSecond: number;
  /** What keeps the red log. */
  readonly engine: Engine;
}

/** One figure of one node. */
export interface JudgedSlope extends Slope {
  readonly site: string;
  readonly figure: Figure;
  readonly first: number;
  readonly last: number;
  readonly max: number;
  /** Absent if the figure has no bound. */
  readonly verdict?: Verdict;
}

export interface SoakReport {
  readonly minutes: number;
  readonly warmUpSeconds: number;
  /** Updates before the run. */
  readonly filled: number;
  readonly samples: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly slopes: readonly JudgedSlope[];
  /** What is wrong. */
  readonly faults: readonly string[];
}

export async function runSoak(
  options: SoakOptions,
  progress: (line: string) => void,
): Promise<SoakReport> {
  const folder = await mkdtemp(join(tmpdir(), 'correctables-soak-'));
  // Nodes take them over when they start.
  process.env['SOAK_FOLDER'] = folder;
  process.env['NODE_OPTIONS'] = `${process.env['NODE_OPTIONS'] ?? ''} --import ${SAMPLER}`;
  try {
    const build = await buildPatched(join(folder, 'package'), FREQUENT_CHECKPOINTS);
    await using deployment =
      options.engine === 'etcd'
        ? await startClusterOnEtcd(folder, build, progress, {
            wan: 'none',
            quotaBytes: ETCD_QUOTA_BYTES,
          })
        : await startCluster(folder, build);
    return await soak(deployment, folder, options, progress);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function soak(
  deployment: ChaosDeployment,
  folder: string,
  { minutes, operationsPerSecond }: SoakOptions,
  progress: (line: string) => void,
): Promise<SoakReport> {
  const counts = new Counter();
  const ending = new AbortController();
  const { sites } = deployment;
  const urls = sites.map((site) => `ws://${deployment.addressOf(site)}${deployment.pathOf(site)}`);
  const workers = sites.flatMap((site, place) =>
    Array.from({ length: CLIENTS_PER_SITE }, (_, n) => ({
      name: `${site}${n}`,
      client: openClient([...urls.slice(place), ...urls.slice(0, place)]),
      seed: 1 + place * CLIENTS_PER_SITE + n,
      operationsPerSecond: operationsPerSecond / (CLIENTS_PER_SITE * sites.length),
    })),
  );
  const filled = new Counter();
  const giveUpAtMs = performance.now() + FILL_MAX_MS;
  const countFilled = (): number => filled.counts['success'] ?? 0;
  const isEnough = (): boolean => countFilled() >= FILL_UPDATES || performance.now() > giveUpAtMs;
  await Promise.all(workers.map((worker) => fill(worker, filled, isEnough)));
  progress(`filled with ${countFilled()} updates`);
  const fromMs = performance.now();
  const working = Promise.all(workers.map((worker) => work(worker, counts, ending.signal)));
  const samples = new Map<string, Sample[]>(sites.map((site) => [site, []]));
  const lastsMs = minutes * MINUTE_MS;
  const intervalMs = Math.max(MIN_INTERVAL_MS, lastsMs / SAMPLES);
  for (let dueMs = fromMs + intervalMs; dueMs <= fromMs + lastsMs; dueMs += intervalMs) {
    await Promise.race([pause(dueMs - performance.now()), working]);
    for (const site of sites) {
      const sample = await takeSample(folder, {
        site,
        directory: deployment.directoryOf(site),
        etcd: deployment.etcd?.cluster,
      });
      samples.get(site)?.push(sample);
      const megabytes = (sample.heapBytes / MEGABYTE).toFixed(1);
      progress(
        `${Math.round((sample.atMs - fromMs) / 1000)} s, ${site}: ${megabytes} MB, ${sample.openFiles} files`,
      );
    }
  }
  ending.abort();
  await working;
  await Promise.all(workers.map(({ client }) => client.close()));
  const warmUpMs = lastsMs * WARM_UP_SHARE;
  const slopes = [...samples].flatMap(([site, all]) =>
    judge(site, all, fromMs + warmUpMs, minutes >= LONG_MINUTES),
  );
  const faults = slopes.filter(({ verdict }) => verdict === 'missed').map(describe);
  for (const { name, complaints, alarms } of deployment.processes) {
    faults.push(...complaints);
    for (const [alarm, times] of Object.entries(alarms))
      faults.push(`${name}: alarm ${alarm}, ${times} times`);
  }
  if ((counts.counts['success'] ?? 0) === 0) faults.push('no operation succeeded');
  return {
    minutes,
    warmUpSeconds: warmUpMs / 1000,
    filled: countFilled(),
    samples: samples.get(sites[0] as string)?.length ?? 0,
    outcomes: counts.counts,
    slopes,
    faults,
  };
}

function judge(
  site: string,
  all: readonly Sample[],
  fromMs: number,
  isLong: boolean,
): JudgedSlope[] {
  const samples = all.filter(({ atMs }) => atMs >= fromMs);
  const figures = Object.keys(samples[0] ?? {}).filter((name): name is Figure => name !== 'atMs');
  return figures.map((figure) => {
    const values = samples.map((sample) => sample[figure]);
    const bound = BOUNDS[figure];
    const slope = fitSlope(
      samples.map((sample) => [sample.atMs, sample[figure]]),
      bound?.swing,
    );
    return {
      site,
      figure,
      ...slope,
      first: values[0] as number,
      last: values.at(-1) as number,
      max: Math.max(...values),
      ...(bound !== undefined && { verdict: judgeSlope(slope, bound.perHour, isLong) }),
    };
  });
}

/** In words, with bytes as megabytes. */
export function describe({ site, figure, slope, low, high, verdict }: JudgedSlope): string {
  const isBytes = figure.endsWith('Bytes');
  const format = (value: number): string =>
    (isBytes ? value / MEGABYTE : value).toFixed(isBytes ? 2 : 1);
  const range = `${format(slope)} (95 %: ${format(low)} to ${format(high)})`;
  return `${site}: ${figure} ${range}${isBytes ? ' MB' : ''} an hour${verdict === undefined ? '' : `, ${verdict}`}`;
}
