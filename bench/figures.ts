/**
 * Writes what the benchmarks measured into docs/performance.md, docs/papers.md, docs/plots.md and
 * the plots themselves: `npm run figures`. A test holds them equal. The tables of
 * docs/performance.md leave out results that the page lists as measured by older definitions.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { GoalResult } from './harness/goals.ts';
import { listResults, readResult, type Report } from './harness/results.ts';
import { drawAll, formatPlots, updatePlots } from './plots/save.ts';

type Reports = ReadonlyMap<string, Report>;

const PAGE = 'docs/performance.md';
const PAPERS = 'docs/papers.md';
const PLOTS = 'docs/plots.md';
const BEGIN = '<!-- figures: bench/results -->';
const END = '<!-- end of figures -->';

const urlOf = (path: string): URL => new URL(`../${path}`, import.meta.url);
const read = (path: string): string => readFileSync(urlOf(path), 'utf8');

/**
 * Returns the names of the results that docs/performance.md lists as measured by older definitions.
 */
export function listOlderResults(): string[] {
  return [...read(PAGE).matchAll(/^\| `([\w-]+)` \| measured by the definition of \S+ \|$/gm)].map(
    ([, name = '']) => name,
  );
}

const three = (figure: number): number => Number(figure.toPrecision(3));
const range = ({ value, low, high }: GoalResult): string =>
  low === high ? `${value}` : `${three(value)} (${three(low)} to ${three(high)})`;
const row = (cells: readonly unknown[]): string => `| ${cells.join(' | ')} |`;
const table = (heads: readonly string[], rows: readonly (readonly unknown[])[]): string =>
  [row(heads), row(heads.map(() => '---')), ...rows.map(row)].join('\n');

/** Returns a table for each benchmark. */
function formatPage(all: Reports): string {
  const parts = [...all].map(([name, { bars, date, commit, judged, machine, versions }]) => {
    const with_ = Object.entries(versions).map(
      ([description, version]) => `${description} ${version}`,
    );
    const again =
      judged && ` Judged again on ${judged.date.slice(0, 10)}, commit ${judged.commit}.`;
    const where = `${date.slice(0, 10)}, commit ${commit}; ${machine['cores']} processors (${machine['cpu']}), ${with_.join(', ')}.${again ?? ''}`;
    const rows = bars.map((bar) => [
      `\`${bar.name}\``,
      range(bar),
      bar.unit,
      bar.floor ?? '',
      bar.aim ?? '',
      bar.verdict ?? '',
    ]);
    return `### \`${name}\`\n\n${where}\n\n${table(['figure', 'measured', 'unit', 'floor', 'aim', ''], rows)}`;
  });
  return parts.join('\n\n');
}

/**
 * Returns the first table of docs/performance.md with the present figures, which are in the cells
 * that end with `~ FILE: BAR`.
 */
function fillHeadlines(text: string, all: Reports): string {
  return text.replaceAll(
    /\| [^|]*<!-- ~ ([\w-]+): ([\w-]+) --> \|/g,
    (_, name: string, bar: string) => {
      const found = all.get(name)?.bars.find((item) => item.name === bar);
      return `| ${found === undefined ? 'by an older definition' : range(found)} <!-- ~ ${name}: ${bar} --> |`;
    },
  );
}

/** Replaces the text between the marks. */
function fill(text: string, content: string): string {
  const [before, remaining = ''] = text.split(BEGIN);
  const [, after] = remaining.split(END);
  if (after === undefined) throw new Error(`a page lacks ${BEGIN} … ${END}`);
  return `${before}${BEGIN}\n\n${content}\n\n${END}${after}`;
}

/** Returns a figure of a report: `name` of a bar, `field[name=value …]` of a row, or a number. */
function readTerm({ bars, rows }: Report, term: string): number {
  const [, field = '', where] = /^([\w-]+)\[(.*)\]$/.exec(term) ?? [];
  const wanted = where?.split(' ').map((pair) => pair.replaceAll('_', ' ').split('=')) ?? [];
  const isWanted = (item: Readonly<Record<string, unknown>>): boolean =>
    wanted.every(([name = '', value]) => String(item[name]) === value);
  const found =
    where === undefined
      ? (bars.find((bar) => bar.name === term)?.value ?? Number(term))
      : (rows as readonly Readonly<Record<string, unknown>>[]).find(isWanted)?.[field];
  if (typeof found !== 'number' || Number.isNaN(found))
    throw new Error(`${PAPERS}: no figure ${term}`);
  return found;
}

/**
 * Returns the value of `FILE: TERM / TERM - TERM`, from left to right, multiplied by FACTOR if
 * `FACTOR *` precedes it.
 */
function evaluate(formula: string): number {
  const [, factor = '1', file = '', first = '', remaining = ''] =
    /^(?:(-?\d+) \* )?([\w-]+): ([^ [\]]+(?:\[[^\]]*\])?)(.*)$/.exec(formula) ?? [];
  const report = readResult(file);
  const steps = [...remaining.matchAll(/ ([-/]) ([^ [\]]+(?:\[[^\]]*\])?)/g)];
  const value = steps.reduce(
    (sum, [, sign, term = '']) =>
      sign === '/' ? sum / readTerm(report, term) : sum - readTerm(report, term),
    readTerm(report, first),
  );
  return Number(factor) * value;
}

/**
 * Returns docs/papers.md with the present figures. A cell that ends with a formula in a comment
 * gets the value of the formula. The next cell gets the ratio of that value to the previous cell,
 * if that has a number.
 */
function fillPapers(text: string): string {
  return text.replaceAll(
    /\| ([^|]*) \| [-\d.]* ?([^|<]*)<!-- = (.*?) --> \| [^|]*\|/g,
    (_, paper: string, unit: string, formula: string) => {
      const value = evaluate(formula);
      const ratio =
        Number.parseFloat(paper) > 0 ? `${three(value / Number.parseFloat(paper))} ` : '';
      return `| ${paper} | ${three(value)} ${unit}<!-- = ${formula} --> | ${ratio}|`;
    },
  );
}

/** Returns the pages and plots that do not show the results, and writes them if asked to. */
export function updateFigures(isWriting: boolean): string[] {
  const older = listOlderResults();
  const names = listResults().filter((name) => !older.includes(name));
  const all = new Map(names.map((name) => [name, readResult(name)]));
  const plots = drawAll();
  const performance = (text: string): string => fill(fillHeadlines(text, all), formatPage(all));
  const pages = [
    [PAGE, performance],
    [PAPERS, fillPapers],
    [PLOTS, (text: string): string => fill(text, formatPlots(plots))],
  ] as const;
  const written = pages.flatMap(([page, update]) => {
    const text = read(page);
    const requested = update(text);
    if (requested === text) return [];
    if (isWriting) writeFileSync(urlOf(page), requested);
    return [page];
  });
  return [...written, ...updatePlots(plots, isWriting)];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) updateFigures(true);
