/**
 * Compares one of three sites as a separate process with one of three sites in a single process.
 * The difference is what TLS, encoded envelopes and two more processes cost a client. All sites
 * keep their data on a disk.
 */
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { answer, ask, ended, startChild } from '../harness/children.ts';
import { atLeast, estimate, isUndecided, reported, type GoalResult } from '../harness/goals.ts';
import type { Target } from '../load/messages.ts';
import { contestantOf, serverFlags, startContestant, type Contestant } from '../load/processes.ts';
import { measureStarts, QUICK, STARTS, type Extent } from '../load/restart-rounds.ts';
import { figureOf, figureRatioOf, ratioOf, rowOf, type Samples } from '../load/rounds.ts';
import { SITES, startCluster } from './nodes.ts';
import { computeRedOnEtcdGoals, measureRedOnEtcd, type RedOnEtcdRow } from './red-on-etcd.ts';

type Name = 'cluster' | 'embedded';
const NAMES: readonly Name[] = ['cluster', 'embedded'];

const FULL: Extent = { ...STARTS, rounds: 3, warmUps: 2 };
const WINDOW = 64;
const OPERATIONS = { blue: 'deposit', red: 'withdraw', read: 'read' } as const;
type Operation = keyof typeof OPERATIONS;

const TARGETS: Readonly<Record<Name, Target>> = {
  cluster: { kind: 'redblue', sites: 3, durable: true, isCluster: true },
  embedded: { kind: 'redblue', sites: 3, durable: true },
};

export const cluster: Bench = {
  name: 'cluster',
  about:
    'one site of three in a process of its own, beside three sites in one process, and with its red log on etcd',
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const bytesPerBlue: number[] = [];
  const operations = Object.keys(OPERATIONS) as Operation[];
  const durationMs = quick ? 300 : 1000;
  const plans = operations.map((operation) => ({
    workload: OPERATIONS[operation],
    window: WINDOW,
    durationMs,
    names: NAMES,
  }));
  const byOperation = (measured: readonly Samples<Name>[]): ReadonlyMap<Operation, Samples<Name>> =>
    new Map(operations.map((operation, index) => [operation, measured[index] as Samples<Name>]));
  const samples = byOperation(
    await measureStarts(TARGETS, plans, {
      ...(quick ? QUICK : FULL),
      warmUp: { workload: 'deposit', window: WINDOW, durationMs },
      isDecided: (soFar) => !goalsOf(byOperation(soFar)).some(isUndecided),
      startOne: (target) =>
        target.kind === 'redblue' && target.isCluster === true
          ? startSite(bytesPerBlue)
          : startContestant(target),
      progress,
    }),
  );
  const onEtcd = await measureRedOnEtcd({ quick, progress });
  return {
    rounds: samples.get('blue')?.get('cluster')?.length ?? 0,
    rows: [
      ...[...samples].flatMap(([operation, of]) =>
        [...of].map(([contender, list]) => ({ operation, contender, ...rowOf(list) })),
      ),
      ...onEtcd.map((row) => ({ operation: 'red on etcd', ...row })),
    ],
    bars: [
      ...goalsOf(samples),
      ...computeRedOnEtcdGoals(onEtcd),
      reported('bytes-between-sites-per-blue', estimate(bytesPerBlue), 'bytes'),
    ],
    samples: {
      ...Object.fromEntries(
        [...samples].map(([operation, of]) => [operation, Object.fromEntries(of)]),
      ),
      redOnEtcd: onEtcd,
    },
    flags: serverFlags(),
  };
}

/** Computes the bars from the samples of a results file: all except the bytes between sites. */
export function computeGoalResults({
  redOnEtcd,
  ...samples
}: Record<Operation, Record<Name, never>> & {
  readonly redOnEtcd: readonly RedOnEtcdRow[];
}): GoalResult[] {
  const byOperation = Object.entries(samples).map(
    ([operation, of]) =>
      [operation as Operation, new Map(Object.entries(of)) as Samples<Name>] as const,
  );
  return [...goalsOf(new Map(byOperation)), ...computeRedOnEtcdGoals(redOnEtcd)];
}

function goalsOf(samples: ReadonlyMap<Operation, Samples<Name>>): GoalResult[] {
  const of = (operation: Operation): Samples<Name> => samples.get(operation) as Samples<Name>;
  const ratio = (operation: Operation): ReturnType<typeof ratioOf> =>
    ratioOf(of(operation), 'cluster', 'embedded');
  const perProcessor = (operation: Operation): ReturnType<typeof ratioOf> =>
    figureRatioOf(of(operation), { of: 'embedded', to: 'cluster' }, 'serverUsPerOp');
  const red = of('red').get('cluster') ?? [];
  return [
    atLeast('blue-vs-embedded', ratio('blue'), { floor: 0.9 }),
    reported('red-vs-embedded', ratio('red')),
    reported('read-vs-embedded', ratio('read')),
    // All processes share the cores of one machine. The processor time of the site's own process is
    // what it would need on a separate machine.
    reported('blue-per-processor-vs-embedded', perProcessor('blue')),
    reported('red-per-processor-vs-embedded', perProcessor('red')),
    reported('red-per-second', figureOf(red, 'opsPerSecond'), 'operations a second'),
  ];
}

/** Starts the first site of a cluster, with clients that know only this site. */
async function startSite(bytesPerBlue: number[]): Promise<Contestant> {
  const { nodes, stop } = await startCluster();
  const node = nodes[SITES[0]];
  const client = startChild(new URL('../load/client.ts', import.meta.url), [node.siteUrl]);
  await answer(client);
  const site = contestantOf({ pid: node.pid, stop }, [
    { ask: (order) => ask(client, order), ended: () => ended(client) },
  ]);
  const sentBytes = (): Promise<number> => node.readMetric('correctables_link_sent_bytes_total');
  return {
    stop: () => site.stop(),
    async run(order) {
      const before = await sentBytes();
      const measured = await site.run(order);
      // The part of a run that is not measured is a quarter of it.
      const operations = (measured.opsPerSecond * order.durationMs * 1.25) / 1000;
      if (order.workload === 'deposit')
        bytesPerBlue.push(((await sentBytes()) - before) / operations);
      return measured;
    },
  };
}
