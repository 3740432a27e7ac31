/**
 * Which shadow operations of the case studies may be blue (RedBlue, OSDI 2012, Table 2): counted by
 * the labeling tool, from the services as they are. It has to find what is red and declared blue,
 * and report nothing else.
 */
import { withColors, type Service } from 'correctables/server';
import { analyzeColors, type ColorAnalysisOptions, type ColorReport } from 'correctables/testing';
import type { CaseStudy } from '../case-study.ts';
import { STUDIES, studyOf, type StudyName } from '../studies.ts';
import { atLeast, limitTime, type GoalResult } from '../../../bench/harness/goals.ts';
import type { Bench, Outcome, Settings } from '../../../bench/harness/bench.ts';

const RUNS = 10_000;
const QUICK_RUNS = 1000;
/** All runs of one service take so long at most, of one that is declared wrong, too. */
const SECONDS_AIM = 30;

/** Table 2: shadow operations, those of reads among them, and how many are red. */
const PAPER: Readonly<Record<StudyName, { readonly shadows: number; readonly red: number }>> = {
  tpcw: { shadows: 29, red: 2 },
  rubis: { shadows: 20, red: 2 },
  quoddy: { shadows: 15, red: 0 },
};

interface Row extends Readonly<Record<string, unknown>> {
  readonly study: StudyName;
  readonly requests: number;
  readonly transactions: number;
  readonly readOnly: number;
  readonly updates: number;
  readonly blueNoop: number;
  readonly blue: number;
  readonly red: number;
  readonly runs: number;
  readonly seconds: number;
  /** Declarations that are found unsafe, though they are right. */
  readonly falseAlarms: number;
  /** Shadow operations that so many runs have not tried. */
  readonly undecided: number;
  /**
   * Of the red ones, each declared blue by itself: how many are refused in time, and what the
   * slowest took.
   */
  readonly planted: number;
  readonly found: number;
  readonly plantedSeconds: number;
}

export const labels: Bench = {
  name: 'labels',
  about:
    'the shadow operations of the case studies: how many are blue and red, and whether wrong labels are found',
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const runs = quick ? QUICK_RUNS : RUNS;
  const rows: Row[] = [];
  for (const name of STUDIES) {
    progress(`labels: ${name}, ${runs} runs`);
    rows.push(rowOf(name, await studyOf(name), runs));
  }
  return { rounds: 1, rows, bars: computeGoalResults(rows), samples: [] };
}

function rowOf(name: StudyName, study: CaseStudy, runs: number): Row {
  const { service, arbitraries, apart, mixes } = study;
  const { report, seconds } = labeled(service, { runs, arbitraries });
  const ours = Object.entries(service.contract.operations).filter(
    ([operation]) => !apart.includes(operation),
  );
  const readOnly = ours.filter(([, { access }]) => access === 'read').length;
  const shadows = report.shadows.filter(
    ({ operation }) => operation === null || !apart.includes(operation),
  );
  const reds = [
    ...new Set(
      shadows.filter(({ declaredColor }) => declaredColor === 'red').map((shadow) => shadow.name),
    ),
  ];
  const planted = reds.map((red) => {
    const wrong = labeled(withColors(service, { [red]: 'blue' }), { runs, arbitraries });
    return {
      seconds: wrong.seconds,
      isFound: isFound(wrong.report, red) && wrong.seconds <= SECONDS_AIM,
    };
  });
  const verdicts = report.shadows.map(({ verdict }) => verdict);
  return {
    study: name,
    requests: Object.keys(Object.values(mixes)[0] ?? {}).length,
    transactions: ours.length,
    readOnly,
    updates: ours.length - readOnly,
    blueNoop: readOnly,
    blue: new Set(shadows.map((shadow) => shadow.name)).size - reds.length,
    red: reds.length,
    runs,
    seconds,
    falseAlarms: verdicts.filter((verdict) => verdict === 'unsafe').length,
    undecided: verdicts.filter((verdict) => verdict === 'undecided').length,
    planted: planted.length,
    found: planted.filter((item) => item.isFound).length,
    plantedSeconds: Math.max(0, ...planted.map((item) => item.seconds)),
  };
}

function labeled(
  service: Service,
  options: ColorAnalysisOptions,
): { readonly report: ColorReport; readonly seconds: number } {
  const from = performance.now();
  const report = analyzeColors(service, options);
  return { report, seconds: Math.round(performance.now() - from) / 1000 };
}

function isFound({ shadows }: ColorReport, name: string): boolean {
  return shadows.some((shadow) => shadow.name === name && shadow.verdict === 'unsafe');
}

function computeGoalResults(rows: readonly Row[]): GoalResult[] {
  const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const planted = sum((row) => row.planted);
  return [
    ...rows.flatMap((row) => [
      atLeast(
        `${row.study}-shadows`,
        row.blueNoop + row.blue + row.red,
        { aim: PAPER[row.study].shadows },
        'operations',
      ),
      limitTime(`${row.study}-red`, row.red, { aim: PAPER[row.study].red }, 'operations'),
    ]),
    atLeast(
      'planted-found',
      planted === 0 ? 1 : sum((row) => row.found) / planted,
      { aim: 1 },
      'fraction',
    ),
    limitTime(
      'false-alarms',
      sum((row) => row.falseAlarms),
      { aim: 0 },
      'operations',
    ),
    limitTime(
      'undecided',
      sum((row) => row.undecided),
      { aim: 0 },
      'operations',
    ),
    limitTime(
      'label-seconds',
      Math.max(...rows.map(({ seconds }) => seconds)),
      { aim: SECONDS_AIM },
      's',
    ),
  ];
}
