/**
 * Results in bench/results are those of the present benchmarks, or the documentation names their
 * date.
 */
import { expect, test } from 'vitest';
import { listOlderResults } from '../../bench/figures.ts';
import { listResults, readResult } from '../../bench/harness/results.ts';
import { barNamesOf } from './goal-names.ts';
import { differingBars, type Published } from './re-evaluated-goals.ts';

/** What a run writes today. */
interface Report {
  readonly commit?: string;
  readonly bars: readonly Published[];
  /** What the bars are made of. */
  readonly samples?: unknown;
}

/**
 * All bars of today, except for gains at peaks that were not found to be some: the samples show
 * more than those.
 */
function namesOfToday(file: string, bars: Report['bars']): readonly string[] | undefined {
  const names = barNamesOf(file);
  const open = bars.find(({ name }) => name === 'peaks-not-bracketed')?.value ?? 0;
  const isKnown = (name: string): boolean =>
    name !== 'gain-of-peaks-by-busy-time' && bars.some((bar) => bar.name === name);
  return open === 0 ? names : names?.filter((name) => !isGain(name) || isKnown(name));
}

/** Whether it is the gain at a peak, which is listed only if the peak is known. */
function isGain(name: string): boolean {
  return name.startsWith('gain-') && !name.startsWith('gain-up-to-');
}

/**
 * Whether it has the form of today, and the bars of today: by name, and as its samples give them.
 */
function isOfToday(file: string, { commit, bars, samples }: Report): boolean {
  const names = namesOfToday(file, bars) ?? bars.map(({ name }) => name).sort();
  const isJudged = bars.every(({ verdict }) => verdict !== undefined);
  const hasNames =
    names.join() ===
    bars
      .map(({ name }) => name)
      .sort()
      .join();
  // Without samples there is nothing to make them of: a report of a test.
  const isMade = samples === undefined || differingBars(file, samples, bars).length === 0;
  return commit !== undefined && isJudged && hasNames && isMade;
}

const files = listResults();
const older = listOlderResults();

test.each(files)('%s → of the definitions of today, or listed as measured before', (file) => {
  expect(isOfToday(file, readResult(file))).toBe(!older.includes(file));
});

test('the documentation lists as measured before only results that there are', () => {
  expect(older.filter((file) => !files.includes(file))).toEqual([]);
});

/** One that nothing is held to. */
function bar(name: string, value = 1): Published {
  return {
    name,
    value,
    low: value,
    high: value,
    samples: null,
    unit: 'ratio',
    floor: null,
    aim: null,
    verdict: null,
  };
}

test.each([
  { what: 'as its samples give it', change: {}, differing: [] },
  { what: 'another figure', change: { value: 0.9 }, differing: ['prelim-vs-rtt'] },
  { what: 'another interval', change: { low: 0.9 }, differing: ['prelim-vs-rtt'] },
  { what: 'another verdict', change: { verdict: 'met' }, differing: ['prelim-vs-rtt'] },
] as const)('a bar of $what → differs: $differing', ({ change, differing }) => {
  const rounds = Array.from({ length: 7 }, () => ({ preliminaryMs: 41, roundTripMs: 40 }));
  const six = {
    ...bar('prelim-vs-rtt'),
    samples: 6,
    aim: 1.15,
    verdict: 'undecided' as const,
    ...change,
  };
  expect(differingBars('zookeeper-latency', [{ rounds: rounds.slice(1) }], [six])).toEqual(
    differing,
  );
  // Seven of them decide.
  expect(differingBars('zookeeper-latency', [{ rounds }], [six])).toEqual(['prelim-vs-rtt']);
  expect(differingBars('zookeeper-latency', [{ rounds }], [])).toEqual(['prelim-vs-rtt']);
});

test('a bar of samples that are not kept → as many as its verdict takes, and a verdict that its interval gives', () => {
  const encountered = { ...bar('red-vs-two-trips'), samples: 7, aim: 1.2, verdict: 'met' as const };
  expect(differingBars('redblue-latency', [], [encountered, bar('unheld')])).toEqual([]);
  expect(differingBars('redblue-latency', [], [{ ...encountered, samples: 6 }])).toEqual([
    'red-vs-two-trips',
  ]);
  expect(differingBars('rights', [], [{ ...encountered, samples: 6 }])).toEqual([]);
  expect(differingBars('rights', [], [{ ...encountered, low: 0.9, high: 1.3 }])).toEqual([
    'red-vs-two-trips',
  ]);
});

test('a report is of today by its form and by the names of its bars', () => {
  const report = (names: readonly string[] = []): Report => ({
    commit: 'c0ffee',
    bars: names.map((name) => bar(name)),
  });
  const names = barNamesOf('wire') ?? [];
  expect(isOfToday('wire', report(names))).toBe(true);
  expect(isOfToday('wire', report(names.slice(1)))).toBe(false);
  expect(isOfToday('wire', { bars: report(names).bars })).toBe(false);
  expect(isOfToday('quoddy', report(['any']))).toBe(true);
  const { verdict: _, ...unjudged } = bar('any');
  expect(isOfToday('quoddy', { commit: 'c0ffee', bars: [unjudged] })).toBe(false);
});

test('a report of peaks that were not bracketed has no gain of them', () => {
  const report = (open: number, isIncluded: (name: string) => boolean): Report => ({
    commit: 'c0ffee',
    bars: (barNamesOf('ads') ?? [])
      .filter((name) => !isGain(name) || isIncluded(name))
      .map((name) => bar(name, name === 'peaks-not-bracketed' ? open : 1)),
  });
  expect(
    isOfToday(
      'ads',
      report(0, () => true),
    ),
  ).toBe(true);
  expect(
    isOfToday(
      'ads',
      report(0, () => false),
    ),
  ).toBe(false);
  expect(
    isOfToday(
      'ads',
      report(3, () => true),
    ),
  ).toBe(false);
  expect(
    isOfToday(
      'ads',
      report(3, () => false),
    ),
  ).toBe(true);
  expect(
    isOfToday(
      'ads',
      report(3, (name) => name === 'gain-at-peak-of-baseline'),
    ),
  ).toBe(true);
});
