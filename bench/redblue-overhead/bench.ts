/**
 * What replication and certification cost where there is nothing to replicate to: one site, beside the same gateway,
 * service and log without them (RedBlue, OSDI 2012, Table 5).
 */
import { atLeast, reported } from '../harness/bars.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { rangesFigure } from '../harness/figure.ts';
import type { Target, Workload } from '../load/messages.ts';
import { SERVER_FLAGS } from '../load/processes.ts';
import { ratioOf, ratioRange, rowOf, type Samples } from '../load/rounds.ts';
import { measureStarts, QUICK, type Extent } from '../load/starts.ts';

const TARGETS = {
  'one site': { kind: 'redblue', sites: 1, durable: false, tuned: true },
  plain: { kind: 'plain' },
} as const satisfies Record<string, Target>;
const NAMES = ['one site', 'plain'] as const;
type Name = (typeof NAMES)[number];

const WORKLOADS: readonly Workload[] = ['mix', 'read', 'deposit', 'withdraw'];
/** What the bar is about; the others show where the cost lies. */
const AIMED: Workload = 'mix';
const WINDOW = 64;
const AIM = 0.94;
const FULL: Extent = { starts: 6, rounds: 2, warmUps: 4 };

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
  const bars = [...samples].map(([workload, of]) => {
    const ratio = ratioOf(of, 'one site', 'plain');
    return workload === AIMED
      ? atLeast('one-site-vs-plain', ratio, { aim: AIM })
      : reported(`one-site-vs-plain-${workload}`, ratio);
  });
  const ranges = [...samples].map(([workload, of]) => {
    const range = { label: workload, ...ratioRange(of, 'one site', 'plain') };
    return workload === AIMED ? { ...range, aim: AIM } : range;
  });
  const plot = rangesFigure(
    'One site with replication and certification, beside the same without',
    `operations a second, as a multiple of the plain service (window ${WINDOW}; median and range; red: the aim)`,
    ranges,
  );
  const plain = Object.fromEntries([...samples].map(([workload, of]) => [workload, Object.fromEntries(of)]));
  return { rounds, rows, bars, samples: plain, flags: [SERVER_FLAGS], figures: { 'redblue-overhead': plot } };
}
