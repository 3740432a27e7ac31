/**
 * Bytes per dequeue (Correctables, OSDI 2016, §6.2.2, Figure 10), by the length of the queue and
 * the number of concurrent consumers: ZooKeeper's own recipe, the paper's head pointer, and claim
 * tickets, its "future work".
 */
import { useEnsemble } from '../../engines/zookeeper/engine.ts';
import { limitTime, estimate, largest, type Estimate } from '../harness/goals.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { pairedRatios, rounded, spread } from '../harness/statistics.ts';
import { versionOfEngine } from '../harness/provenance.ts';
import { rotate } from '../harness/rotate.ts';
import { LOOKS, runAdaptiveRounds, type Course } from '../harness/adaptive-rounds.ts';
import { OURS, RECIPES, type Recipe, type Taker } from './recipes.ts';

/** The goal for the largest mean divided by the smallest: constant within 10 %. */
const AIM = 1.1;
/** Dequeues of each consumer that are not counted. */
const WARM_UPS = 4;

export const zookeeperBandwidth: Bench = {
  name: 'zookeeper-bandwidth',
  about:
    'bytes per dequeue by queue length and number of consumers: vanilla, head pointer, claim tickets',
  run,
};

/** One setting. */
export interface Cell {
  readonly recipe: Recipe;
  readonly length: number;
  readonly consumers: number;
}

/** The median of the rounds of one recipe in one situation. */
interface Row extends Readonly<Record<string, unknown>> {
  readonly recipe: string;
  readonly length: number;
  readonly consumers: number;
  readonly bytes: number;
  /** The value of each round. */
  readonly samples: readonly number[];
}

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const lengths = quick ? [100, 500] : [100, 500, 1000, 5000];
  const consumerCounts = quick ? [1, 4] : [1, 4, 16];
  const takes = quick ? 32 : 48;
  const extent: Extent = quick ? { rounds: 2, looks: 1 } : { rounds: 7 };
  const { ensemble, stop } = await useEnsemble({ wan: 'none' }, progress);
  const servers = ensemble.connectString('frankfurt');
  const base = `/bandwidth-${Date.now()}`;
  const getRootPath = ({ recipe, length }: Cell): string =>
    `${base}-${RECIPES.indexOf(recipe)}-${length}`;
  const cells = lengths.flatMap((length) =>
    consumerCounts.flatMap((consumers) =>
      RECIPES.map((recipe): Cell => ({ recipe, length, consumers })),
    ),
  );
  let rows: readonly Row[];
  const producers = new Map<string, Taker>();
  const consumers = new Map<string, Taker[]>();
  try {
    for (const cell of cells) {
      const root = getRootPath(cell);
      if (!producers.has(root)) {
        progress(`filling ${cell.length} items (${cell.recipe.name})`);
        const producer = cell.recipe.open(servers, root);
        producers.set(root, producer);
        await producer.put(cell.length);
        consumers.set(
          root,
          Array.from({ length: Math.max(...consumerCounts) }, () =>
            cell.recipe.open(servers, root),
          ),
        );
        await refill(consumers.get(root) ?? [], producer);
      }
    }
    const measure = async (cell: Cell): Promise<number> => {
      const takers = (consumers.get(getRootPath(cell)) ?? []).slice(0, cell.consumers);
      // Reach a steady state first, in which each consumer has seen this number of concurrent
      // consumers.
      const warmUps = takers.length * WARM_UPS;
      await bytesPerTake(takers, warmUps);
      await producers.get(getRootPath(cell))?.put(warmUps);
      const bytes = await bytesPerTake(takers, takes);
      await producers.get(getRootPath(cell))?.put(takes);
      return bytes;
    };
    rows = await measureRounds(cells, measure, { ...extent, progress });
  } finally {
    await Promise.all(
      [...producers.values(), ...[...consumers.values()].flat()].map((taker) => taker.close()),
    );
    await stop();
  }
  return {
    versions: versionOfEngine('zookeeper'),
    rounds: rows[0]?.samples.length ?? 0,
    rows,
    bars: computeGoalResults(rows),
    samples: rows,
  };
}

type Extent = Pick<Course<unknown>, 'rounds' | 'looks'>;

/**
 * Measures all cells. Each round begins with another one. There are again as many rounds while it
 * is undecided whether the bytes of claim tickets are constant.
 */
export async function measureRounds(
  cells: readonly Cell[],
  measure: (cell: Cell) => Promise<number>,
  { progress, ...extent }: Extent & Pick<Settings, 'progress'>,
): Promise<readonly Row[]> {
  const measureAll = async (round: number, of: string): Promise<readonly number[]> => {
    progress(of);
    const bytes: number[] = [];
    for (const [at, cell] of rotate([...cells.entries()], round)) bytes[at] = await measure(cell);
    return bytes;
  };
  const rowsOf = (rounds: readonly (readonly number[])[]): Row[] =>
    cells.map((cell, at) =>
      rowOf(
        cell,
        rounds.map((bytes) => bytes[at] as number),
      ),
    );
  return rowsOf(
    await runAdaptiveRounds(measureAll, {
      ...extent,
      computeGoalResults: (soFar) => computeGoalResults(rowsOf(soFar)),
    }),
  );
}

/** Lets each consumer take an item, so that one-time work is done. Then refills the queue. */
async function refill(takers: readonly Taker[], producer: Taker): Promise<void> {
  await Promise.all(takers.map((taker) => taker.take()));
  await producer.put(takers.length);
}

/** Takes items, divided among the consumers, and returns the mean bytes of one. */
async function bytesPerTake(takers: readonly Taker[], takes: number): Promise<number> {
  const sum = (): number => takers.reduce((bytes, taker) => bytes + taker.bytes(), 0);
  const before = sum();
  let left = takes;
  await Promise.all(
    takers.map(async (taker) => {
      while (left > 0) {
        left -= 1;
        await taker.take();
      }
    }),
  );
  await settled(sum);
  return (sum() - before) / takes;
}

/**
 * Waits until all cleanup has ended, because the cleanup after a dequeue counts as a part of its
 * cost.
 */
async function settled(sum: () => number): Promise<void> {
  for (let last = -1; sum() !== last;) {
    last = sum();
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
}

function rowOf({ recipe, length, consumers }: Cell, bytes: readonly number[]): Row {
  const { median, min, max } = spread(bytes);
  return {
    recipe: recipe.name,
    length,
    consumers,
    bytes: rounded(median),
    bytesMin: rounded(min),
    maxBytes: rounded(max),
    samples: bytes.map(rounded),
  };
}

export function computeGoalResults(rows: readonly Row[]): Outcome['bars'] {
  const ours = rows.filter(({ recipe }) => recipe === OURS);
  return [
    limitTime('bytes-flat-length', flatness(ours, 'consumers'), { aim: AIM }),
    limitTime('bytes-flat-consumers', flatness(ours, 'length'), { aim: AIM }),
  ];
}

/**
 * Returns the largest mean divided by the smallest, for rows that agree in `same`, in the worst
 * such group. Bytes are counted exactly, but concurrent consumers make their number random. So any
 * two rows are compared round by round, and the interval is that of the pair that differs most.
 */
function flatness(rows: readonly Row[], same: 'length' | 'consumers'): Estimate {
  const groups = [...new Set(rows.map((row) => row[same]))].map((value) =>
    rows.filter((row) => row[same] === value),
  );
  const means = groups.map((group) => group.map(({ bytes }) => bytes));
  const pairs = groups.flatMap((group) =>
    group.flatMap((item) =>
      group.map((other) => estimate(pairedRatios(item.samples, other.samples), LOOKS)),
    ),
  );
  return {
    ...largest(pairs),
    value: rounded(Math.max(...means.map((bytes) => Math.max(...bytes) / Math.min(...bytes)))),
  };
}
