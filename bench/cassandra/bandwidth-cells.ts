/**
 * What is measured of the bytes per operation: the mixes of the paper, and one more that is driven until so many views
 * diverge as the paper reports (Correctables, OSDI 2016, §6.2.1): there most is sent twice.
 */
import { atLeast, limitTime, estimate, reported, type GoalResult, type Estimate } from '../harness/goals.ts';
import { spread } from '../harness/statistics.ts';
import { LOOKS } from '../harness/adaptive-rounds.ts';
import type { Mix } from './divergence.ts';
import type { System } from './messages.ts';
import { RECORDS } from './ycsb-table.ts';

/** The last two: a request for each view, through the client of C1, and through that of the old definition. */
export const KINDS = ['C1', 'CC2', 'C1 + C2', 'CC2 twice'] as const satisfies readonly System[];
export type Kind = (typeof KINDS)[number];

/** Under which load. */
export interface Cell extends Mix {
  /** Out of how many records: the fewer, the more is changed while it is read. */
  readonly records: number;
  /** Requests of each client under way at a time. */
  readonly inFlight: number;
  /** Whether it was made to diverge. */
  readonly driven: boolean;
}

const IN_FLIGHT = 48;

/** The cell of a mix as the paper has it. */
export function cellOf(mix: Mix): Cell {
  return { ...mix, records: RECORDS, inFlight: IN_FLIGHT, driven: false };
}

/** More than the paper's 27 % and 15 % would be no progress. */
const AIMS = { A: 0.27, B: 0.15 } as const;
/** With less, a mix in which views should diverge says nothing about what that costs. */
const DIVERGENCE_MIN = 0.05;
/** What the paper's aim was made for. */
export const DIVERGENCE_DRIVEN = 0.25;

const DRIVEN = { workload: 'A', distribution: 'latest', driven: true } as const;

/** How hard it is driven, step by step, up to where hardly anything is left to share. */
export const DRIVES: readonly Cell[] = [1000, 300, 100, 50, 25, 12, 6].map((records) => ({
  ...DRIVEN,
  records,
  inFlight: IN_FLIGHT,
}));

/** The first step at which enough diverges; the last one where none does. @param measure the share that does */
export async function driven(measure: (cell: Cell) => Promise<number>, drives = DRIVES): Promise<Cell> {
  let last: Cell | undefined;
  for (const cell of drives) {
    last = cell;
    // Clearly more: it is measured again, several times.
    if ((await measure(cell)) >= 1.1 * DIVERGENCE_DRIVEN) break;
  }
  if (last === undefined) throw new RangeError('no step to drive by');
  return last;
}

export interface Sample extends Cell {
  readonly kind: Kind;
  readonly round: number;
  readonly bytesPerOp: number;
  readonly divergence: number | null;
}

export type Row = ReturnType<typeof rowOf>;

/** What the rounds of one cell come to. */
export function rowOf(cell: Cell, samples: readonly Sample[]) {
  const { workload, distribution, records, inFlight } = cell;
  const isIts = (sample: Sample): boolean =>
    sample.workload === workload && sample.distribution === distribution && sample.driven === cell.driven;
  const own = samples.filter(isIts);
  const of = (kind: Kind, valueOf: (sample: Sample) => number | null): number[] =>
    own.filter((sample) => sample.kind === kind).flatMap((sample) => valueOf(sample) ?? []);
  const bytes = (kind: Kind): number[] => of(kind, ({ bytesPerOp }) => bytesPerOp);
  const baseline = bytes('C1');
  const overhead = (kind: Kind): Estimate =>
    estimate(
      bytes(kind).map((item, round) => item / (baseline[round] as number) - 1),
      LOOKS,
    );
  return {
    workload,
    distribution,
    records,
    inFlight,
    driven: cell.driven,
    c1Bytes: Math.round(spread(baseline).median),
    cc2Bytes: Math.round(spread(bytes('CC2')).median),
    twoRequestsBytes: Math.round(spread(bytes('C1 + C2')).median),
    twoRequestsOfDriverBytes: Math.round(spread(bytes('CC2 twice')).median),
    overhead: overhead('CC2'),
    twoRequestsOverhead: overhead('C1 + C2'),
    twoRequestsOfDriverOverhead: overhead('CC2 twice'),
    divergence: estimate(
      of('CC2', (sample) => sample.divergence),
      LOOKS,
    ),
  };
}

export function computeGoalResults(rows: readonly Row[]): GoalResult[] {
  const rowFor = (workload: string, isDriven = false): Row => {
    const isIt = (row: Row): boolean =>
      row.workload === workload && row.distribution === 'latest' && row.driven === isDriven;
    const found = rows.find(isIt);
    if (found === undefined) throw new Error(`workload ${workload} was not measured`);
    return found;
  };
  const [a, b, much] = [rowFor('A'), rowFor('B'), rowFor('A', true)];
  const enough = atLeast('divergence-A-latest', a.divergence, { aim: DIVERGENCE_MIN }, 'fraction');
  const plenty = atLeast('divergence-A-driven', much.divergence, { aim: DIVERGENCE_DRIVEN }, 'fraction');
  return [
    // The paper's aim under what it was made for, then as it was measured before.
    onlyWith(plenty, limitTime('bytes-overhead-A-driven', much.overhead, { aim: AIMS.A }, 'fraction')),
    plenty,
    onlyWith(enough, limitTime('bytes-overhead-A', a.overhead, { aim: AIMS.A }, 'fraction')),
    limitTime('bytes-overhead-B', b.overhead, { aim: AIMS.B }, 'fraction'),
    enough,
    ...rows
      .filter(({ distribution }) => distribution === 'zipfian')
      .map((row) => reported(`bytes-overhead-${row.workload}-zipfian`, row.overhead, 'fraction')),
    reported('two-requests-overhead-A', a.twoRequestsOverhead, 'fraction'),
    reported('two-requests-overhead-A-other-client', a.twoRequestsOfDriverOverhead, 'fraction'),
  ];
}

/** Where hardly anything diverged, little was sent twice, and that it was little says nothing. */
function onlyWith(divergence: GoalResult, overhead: GoalResult): GoalResult {
  return overhead.verdict === 'met' && divergence.verdict !== 'met' ? { ...overhead, verdict: 'undecided' } : overhead;
}
