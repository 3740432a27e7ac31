/**
 * What replication and certification cost where there is nothing to replicate to: one site, beside the same gateway,
 * service and log without them (RedBlue, OSDI 2012, Table 5).
 */
import { atLeast, reported, type Bench, type Outcome, type Settings } from '../harness/bench.ts';
import { rangesFigure } from '../harness/figure.ts';
import type { Target, Workload } from '../load/messages.ts';
import { ratioOf, rowOf, type Samples } from '../load/rounds.ts';
import { measureStarts, QUICK, type Extent } from '../load/starts.ts';

const TARGETS = {
  'one site': { kind: 'redblue', sites: 1, durable: false, tuned: true },
  plain: { kind: 'plain' },
} as const satisfies Record<string, Target>;
const NAMES = ['one site', 'plain'] as const;
type Name = (typeof NAMES)[number];

/** The mix is what the bar is about; the others show where the cost lies. */
const WORKLOADS: readonly Workload[] = ['mix', 'read', 'deposit', 'withdraw'];
const WINDOW = 64;
const AIM = 0.94;
const FULL: Extent = { starts: 3, rounds: 4, warmUps: 4 };

export const redblueOverhead: Bench = {
  name: 'redblue-overhead',
  about: 'one site with replication and certification on, beside the same gateway, service and log without',
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const extent = quick ? QUICK : FULL;
  const durationMs = quick ? 300 : 800;
  const plans = WORKLOADS.map((workload) => ({ workload, window: WINDOW, durationMs, names: NAMES }));
  const warmUp = { workload: 'mix', window: WINDOW, durationMs } as const;
  const samples = await measureStarts(TARGETS, plans, { ...extent, warmUp, progress });
  return outcomeOf(
    extent.starts * extent.rounds,
    new Map(samples.map((each, index) => [WORKLOADS[index] as Workload, each])),
  );
}

function outcomeOf(rounds: number, samples: ReadonlyMap<Workload, Samples<Name>>): Outcome {
  const rows = [...samples].flatMap(([workload, of]) =>
    NAMES.map((name) => ({ workload, contender: name, ...rowOf(of.get(name) ?? []) })),
  );
  const ratios = new Map([...samples].map(([workload, of]) => [workload, ratioOf(of, 'one site', 'plain')]));
  const [mix, ...others] = WORKLOADS;
  const bars = [
    atLeast('one-site-vs-plain', ratios.get(mix as Workload)?.median ?? NaN, AIM),
    ...others.map((workload) => reported(`one-site-vs-plain-${workload}`, ratios.get(workload)?.median ?? NaN)),
  ];
  const ranges = [...ratios].map(([workload, ratio]) =>
    workload === mix ? { label: workload, ...ratio, aim: AIM } : { label: workload, ...ratio },
  );
  const plot = rangesFigure(
    'One site with replication and certification, beside the same without',
    `operations a second, as a multiple of the plain service (window ${WINDOW}; median and range; red: the aim)`,
    ranges,
  );
  const plain = Object.fromEntries([...samples].map(([workload, of]) => [workload, Object.fromEntries(of)]));
  return { rounds, rows, bars, samples: plain, figures: { 'redblue-overhead': plot } };
}
