/** Plots of reads on PostgreSQL and its replicas, and of sessions there. */
import type { Report } from '../harness/results.ts';
import { spread } from '../harness/statistics.ts';
import { intervalsFigure, type Dot } from './intervals.ts';
import { readTimelineFigure } from './read-timeline.ts';
import { barOf, rowsOf, samplesOf } from './read.ts';
import { BLUE, GREY, RED, short, VIOLET, type Drawn } from './svg.ts';

type Range = Readonly<Record<'median' | 'min' | 'max', number>>;
type Kind = 'plainReplica' | 'preliminary' | 'plainPrimary' | 'final';

interface ReadRow {
  readonly nearest?: string;
  readonly ranges: Readonly<Record<Kind, Range>>;
}

interface Sample {
  readonly transactions: Readonly<
    Record<'transactionMs' | 'pipelinedMs' | 'beginCommitMs', number>
  >;
}

const PLACES: Readonly<Record<string, string>> = {
  'replica-1': 'nearest replica: beside the client',
  'replica-2': 'nearest replica: 20 ms away',
};
const WAYS = {
  transactionMs: 'transaction',
  pipelinedMs: 'BEGIN … COMMIT, two trips',
  beginCommitMs: 'BEGIN … COMMIT',
} as const;
const KINDS = [
  { kind: 'plainReplica', name: 'pg alone, replica', color: GREY },
  { kind: 'preliminary', name: 'preliminary view', color: BLUE },
  { kind: 'plainPrimary', name: 'pg alone, primary', color: GREY },
  { kind: 'final', name: 'final view', color: VIOLET },
] as const;

export function drawPostgresReads(report: Report): Drawn {
  const rows = rowsOf<ReadRow>(report).filter(({ nearest }) => nearest !== undefined);
  const dots = rows.flatMap(({ nearest = '', ranges }) =>
    KINDS.map(({ kind, name, color }): Dot => {
      const { median, min, max } = ranges[kind];
      return {
        group: PLACES[nearest] ?? nearest,
        label: name,
        color,
        value: median,
        low: min,
        high: max,
      };
    }),
  );
  const [near] = rows;
  const ms = (kind: Kind): string => short(near?.ranges[kind].median ?? NaN);
  const samples = samplesOf<Sample>(report);
  const [preliminaryMs = NaN, finalMs = NaN] = [
    near?.ranges.preliminary.median,
    near?.ranges.final.median,
  ];
  return {
    'read-timeline': readTimelineFigure({
      title: `One call, two views: the page shows a value after ${short(preliminaryMs)} ms instead of ${short(finalMs)} ms`,
      note: `A read on PostgreSQL, client and replica in Ireland, primary in Virginia: medians of ${report.rounds} rounds.`,
      see: 'The preliminary view comes from the replica beside the client, and the final one from the primary. If both are equal, the final view confirms the first one.',
      preliminary: {
        ms: preliminaryMs,
        text: 'preliminary view: the page shows it, or works ahead',
      },
      final: { ms: finalMs, text: 'final view: it confirms the first one, or corrects it' },
    }),
    'postgres-latency': intervalsFigure({
      title: `A preliminary view from the replica after ${ms('preliminary')} ms, the final one from the primary after ${ms('final')} ms`,
      note: 'Reads of one key on PostgreSQL, client in Ireland, primary in Virginia: medians of the rounds, and their range.',
      see: `Each view comes as soon as a plain read of the same server. To read both delays neither, but it costs work: under load, a client process does ${short(100 * barOf(report, 'throughput-drop-vs-two-reads').value)} % fewer reads a second than two plain reads.`,
      axis: 'milliseconds (log scale)',
      better: 'lower',
      scale: 'log',
      legend: { 'pg alone': GREY, 'preliminary view': BLUE, 'final view': VIOLET },
      dots,
    }),
    'postgres-transactions': intervalsFigure({
      title: `A transaction takes ${short(100 * barOf(report, 'transaction-vs-begin-commit').value)} % of the time of BEGIN … COMMIT, and ${short(100 * barOf(report, 'transaction-vs-pipelined-begin-commit').value)} % if that takes two trips`,
      note: 'A transfer between two keys on PostgreSQL, client in Ireland, primary in Virginia: medians of the rounds, and their range.',
      see: 'A transaction reads at the replica, and its commit is one trip. With BEGIN and COMMIT each statement is a trip, and locks are held meanwhile.',
      axis: 'milliseconds',
      better: 'lower',
      dots: (Object.keys(WAYS) as (keyof typeof WAYS)[]).map((way) => {
        const rounds = samples.map(({ transactions }) => transactions[way]);
        const { median: value, min: low, max: high } = spread(rounds);
        return { label: WAYS[way], value, low, high, color: way === 'transactionMs' ? BLUE : GREY };
      }),
    }),
  };
}

interface SessionRow {
  readonly sessions: 'on' | 'off';
  readonly reads: number;
  readonly violations: number;
}

export function drawPostgresSessions(report: Report): Drawn {
  const rows = rowsOf<SessionRow>(report);
  const perThousand = ({ violations, reads }: SessionRow): number => (1_000 * violations) / reads;
  const of = (sessions: SessionRow['sessions']): SessionRow | undefined =>
    rows.find((row) => row.sessions === sessions);
  const [on, off] = [of('on'), of('off')];
  return {
    'postgres-sessions': intervalsFigure({
      title: `In sessions, ${on?.violations ?? NaN} of ${on?.reads ?? NaN} reads go back in time; without sessions, ${off?.violations ?? NaN} of ${off?.reads ?? NaN}`,
      note: 'Eight users on PostgreSQL move between two processes, while the replay of both replicas is paused and resumed at random.',
      see: 'A read goes back if it misses a write of its user, or shows less than its user has seen. A replica that is behind the session gives no view.',
      axis: 'views that go back, of 1000 reads',
      better: 'lower',
      dots: rows.map((row) => ({
        label: row.sessions === 'on' ? 'with sessions' : 'without sessions',
        value: perThousand(row),
        color: row.sessions === 'on' ? BLUE : RED,
      })),
    }),
  };
}
