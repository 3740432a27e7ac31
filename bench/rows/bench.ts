/**
 * Measures a site with a large table on a data directory: how long it takes to start, what it
 * needs, and how much slower random operations are than on a small table.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { checkCheckout, describeCheckout, findScript } from '../harness/checkouts.ts';
import { answer, ask, ended, startChild } from '../harness/children.ts';
import { groupBy } from '../harness/group-by.ts';
import { rotate } from '../harness/rotate.ts';
import { median, rounded, samplesMin } from '../harness/statistics.ts';
import { computeGoalResults, type Measured, type Name, type SizeRow, type Sizes } from './goals.ts';
import type { Memory, Order, Ran, Sample, SiteOrder, Started, Workload } from './messages.ts';

/** How much is measured. */
interface Extent extends Sizes {
  readonly middle: number;
  /** The rounds of all sizes but `huge`, which has one: it takes a quarter of an hour. */
  readonly rounds: number;
  /** The operations of each run. The log of so many writes needs several checkpoints. */
  readonly operations: Readonly<Record<Workload, number>>;
}

const FULL: Extent = {
  small: 1_000,
  middle: 100_000,
  large: 1_000_000,
  huge: 10_000_000,
  rounds: samplesMin(),
  operations: { write: 400_000, read: 400_000, scan: 4_000 },
};
const QUICK: Extent = {
  small: 100,
  middle: 1_000,
  large: 10_000,
  huge: 20_000,
  rounds: 1,
  operations: { write: 5_000, read: 5_000, scan: 200 },
};

/** Enough for a million rows in memory, as versions before had them. */
const FLAGS = ['--expose-gc', '--max-old-space-size=4096', '--max-semi-space-size=64'];

export const rows: Bench = {
  name: 'rows',
  about:
    'a site with up to ten million rows: start, memory, disk, pauses, and speed beside a small table',
  takes: ['beside'],
  run,
};

async function run({ quick, beside, progress }: Settings): Promise<Outcome> {
  if (beside !== undefined) checkCheckout(beside);
  const extent = quick ? QUICK : FULL;
  const checkouts = new Map<Name, string | undefined>([['this', undefined]]);
  if (beside !== undefined) checkouts.set('other', beside);
  const all: Measured[] = [];
  for (let round = 0; round < extent.rounds; round += 1) {
    for (const count of [extent.small, extent.middle, extent.large]) {
      for (const [name, checkout] of rotate([...checkouts], round)) {
        progress(`round ${round + 1} of ${extent.rounds}: ${name}, ${count} rows`);
        all.push({ name, rows: count, ...(await measure(checkout, count, extent)) });
      }
    }
  }
  progress(`${extent.huge} rows, once`);
  all.push({ name: 'this', rows: extent.huge, ...(await measure(undefined, extent.huge, extent)) });
  return {
    rounds: extent.rounds,
    rows: summarize(all),
    bars: computeGoalResults(all, extent),
    samples: all,
    versions: describeCheckout(beside),
    flags: FLAGS,
  };
}

/** Fills a new directory, measures the site on it, and starts it again. */
async function measure(
  checkout: string | undefined,
  count: number,
  { operations }: Extent,
): Promise<Omit<Measured, 'name' | 'rows'>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-rows-'));
  try {
    const first = await startSite(dataDir, checkout);
    const { usPerOperation: fillUsPerRow } = await first.ask<Ran>({ kind: 'fill', rows: count });
    const runs = {} as Record<Workload, Ran>;
    for (const workload of ['write', 'read', 'scan'] as const)
      runs[workload] = await first.ask<Ran>({
        kind: 'run',
        workload,
        rows: count,
        operations: operations[workload],
      });
    const memory = await first.ask<Memory>({ kind: 'memory' });
    const before = await first.ask<Sample>({ kind: 'sample', rows: count });
    await first.stop();
    const diskBytes = measureDirectory(dataDir);
    const second = await startSite(dataDir, checkout);
    const after = await second.ask<Sample>({ kind: 'sample', rows: count });
    await second.stop();
    if (JSON.stringify(before) !== JSON.stringify(after))
      throw new Error('after the start, the site has other rows than before');
    return {
      fillUsPerRow,
      memoryBytes: memory.bytes,
      diskBytes,
      startMs: second.startMs,
      usPerOperation: mapRuns(runs, ({ usPerOperation }) => usPerOperation),
      longestPauseMs: mapRuns(runs, ({ longestPauseMs }) => longestPauseMs),
    };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

interface RunningSite extends Started {
  ask<T>(order: Order): Promise<T>;
  stop(): Promise<void>;
}

async function startSite(dataDir: string, checkout: string | undefined): Promise<RunningSite> {
  const order: SiteOrder = { dataDir, dist: findScript('dist/', checkout).href };
  const child = startChild(new URL('site.ts', import.meta.url), [JSON.stringify(order)], FLAGS);
  const { startMs } = await answer<Started>(child);
  return { startMs, ask: (message) => ask(child, message), stop: () => ended(child) };
}

function measureDirectory(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function mapRuns(
  runs: Readonly<Record<Workload, Ran>>,
  figure: (run: Ran) => number,
): Record<Workload, number> {
  return { write: figure(runs.write), read: figure(runs.read), scan: figure(runs.scan) };
}

/** Returns one row for each checkout and size, with the medians of the rounds. */
function summarize(all: readonly Measured[]): readonly SizeRow[] {
  return groupBy(all, ({ name, rows: count }) => `${name} ${count}`).map((group) => {
    const middle = (figure: (item: Measured) => number): number =>
      rounded(median(group.map(figure)));
    const [{ name, rows: count }] = group;
    return {
      name,
      rows: count,
      startMs: middle(({ startMs }) => startMs),
      memoryMb: middle(({ memoryBytes }) => memoryBytes / 1e6),
      diskMb: middle(({ diskBytes }) => diskBytes / 1e6),
      fillUsPerRow: middle(({ fillUsPerRow }) => fillUsPerRow),
      writeUs: middle(({ usPerOperation }) => usPerOperation.write),
      readUs: middle(({ usPerOperation }) => usPerOperation.read),
      scanUs: middle(({ usPerOperation }) => usPerOperation.scan),
      writePauseMs: middle(({ longestPauseMs }) => longestPauseMs.write),
      readPauseMs: middle(({ longestPauseMs }) => longestPauseMs.read),
    };
  });
}
