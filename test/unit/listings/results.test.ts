/** Results in bench/results are those of the benchmarks as they are, or the documentation says of when they are. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MEASURED_BEFORE } from '../../../bench/measured-before.ts';
import { barNamesOf } from './bar-names.ts';

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

/** What a run writes today. */
interface Report {
  readonly commit?: string;
  readonly bars: readonly { readonly name: string; readonly value?: number; readonly verdict?: string | null }[];
}

/** All bars of today, but for gains at peaks that were not found to be some: of those none is told. */
function namesOfToday(file: string, bars: Report['bars']): readonly string[] | undefined {
  const names = barNamesOf(file);
  const open = bars.find(({ name }) => name === 'peaks-not-bracketed')?.value ?? 0;
  const isKnown = (name: string): boolean =>
    name.startsWith('gain-at-peak-of-') && bars.some((bar) => bar.name === name);
  return open === 0 ? names : names?.filter((name) => !name.startsWith('gain-') || isKnown(name));
}

/** Whether it has the form of today, and the bars of today. */
function isOfToday(file: string, { commit, bars }: Report): boolean {
  const names = namesOfToday(file, bars) ?? bars.map(({ name }) => name).sort();
  const isJudged = bars.every(({ verdict }) => verdict !== undefined);
  return (
    commit !== undefined &&
    isJudged &&
    names.join() ===
      bars
        .map(({ name }) => name)
        .sort()
        .join()
  );
}

const files = readdirSync(new URL('bench/results/', root)).map((name) => name.replace('.json', ''));

test.each(files)('%s → of the definitions of today, or listed as measured before', (file) => {
  const report = JSON.parse(read(`bench/results/${file}.json`)) as Report;
  expect(isOfToday(file, report)).toBe(MEASURED_BEFORE[file] === undefined);
});

test('the list has no file that there is not, and the documentation has the same list', () => {
  expect(Object.keys(MEASURED_BEFORE).filter((file) => !files.includes(file))).toEqual([]);
  const [, listed = ''] = read('docs/benchmarks.md').split('## Results by older definitions');
  const rows = [...listed.matchAll(/^\| `([\w-]+)` \| measured by the definition of (\S+) \|$/gm)];
  expect(Object.fromEntries(rows.map(([, file, date]) => [file, date]))).toEqual(MEASURED_BEFORE);
});

test('a report is of today by its form and by the names of its bars', () => {
  const report = (names: readonly string[] = []): Report => ({
    commit: 'c0ffee',
    bars: names.map((name) => ({ name, verdict: null })),
  });
  const names = barNamesOf('wire') ?? [];
  expect(isOfToday('wire', report(names))).toBe(true);
  expect(isOfToday('wire', report(names.slice(1)))).toBe(false);
  expect(isOfToday('wire', { bars: report(names).bars })).toBe(false);
  expect(isOfToday('core', report(['any']))).toBe(true);
  expect(isOfToday('core', { commit: 'c0ffee', bars: [{ name: 'any' }] })).toBe(false);
});

test('a report of peaks that were not bracketed tells no gain of them', () => {
  const report = (open: number, isTold: (name: string) => boolean): Report => ({
    commit: 'c0ffee',
    bars: (barNamesOf('ads') ?? [])
      .filter((name) => !name.startsWith('gain-') || isTold(name))
      .map((name) => ({ name, value: name === 'peaks-not-bracketed' ? open : 1, verdict: null })),
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
