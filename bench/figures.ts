/**
 * Writes what the benchmarks measured into docs/benchmarks.md and README.md: `npm run figures`. A test holds them equal.
 * Results that docs/benchmarks.md lists as measured by older definitions are left out.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { GoalResult } from './harness/goals.ts';
import { listResults, readResult, type Report } from './harness/results.ts';

type Reports = ReadonlyMap<string, Report>;

const PAGE = 'docs/benchmarks.md';
const BEGIN = '<!-- figures: bench/results -->';
const END = '<!-- end of figures -->';

/** What README.md says, in its words; in the order in which it says it. */
const HEADLINES: readonly (readonly [file: string, bar: string, words: string])[] = [
  ['core', 'awaited-vs-promise', 'time of a Correctable by `await`, as a multiple of a Promise’s by `await`'],
  ['core', 'callbacks-vs-promise', 'the same with callbacks for both views, beside one callback of a Promise'],
  ['core', 'invoke-vs-promise', 'the same for `invoke` on a store in memory'],
  ['core', 'rxjs-vs-promise', 'the same for an RxJS subject that remembers its value'],
  [
    'wire',
    'time-vs-equal-echo-one-view-64',
    'processor time of an operation, as a multiple of an echo of as many bytes',
  ],
  ['wire', 'time-vs-equal-echo-both-views-64', 'the same with both views'],
  [
    'redblue-overhead',
    'one-site-vs-the-same-parts',
    'a site’s throughput, as a share of the same parts without replication',
  ],
  ['redblue-overhead', 'one-site-vs-a-day', 'the same, of what a good engineer writes in a day'],
  ['server', 'ephemeral-blue-vs-ioredis-1', 'blue updates in memory beside Redis, one at a time'],
  ['server', 'ephemeral-blue-vs-ioredis-64', 'the same, 64 at a time'],
  ['server', 'ephemeral-blue-vs-ioredis-1024', 'the same, 1024 at a time'],
  ['server', 'durable-blue-vs-ioredis-aof-1', 'blue updates on a disk beside Redis with a synced log, one at a time'],
  ['server', 'durable-blue-vs-ioredis-aof-64', 'the same, 64 at a time'],
  ['server', 'durable-blue-vs-ioredis-aof-1024', 'the same, 1024 at a time'],
  [
    'cassandra-load',
    'throughput-drop-A-ireland',
    'of the throughput at the peak, what preliminary views cost on Cassandra (YCSB A)',
  ],
  ['cassandra-load', 'throughput-drop-A-ireland-vs-driver', 'the same, beside cassandra-driver without this package'],
];

const urlOf = (path: string): URL => new URL(`../${path}`, import.meta.url);
const read = (path: string): string => readFileSync(urlOf(path), 'utf8');

/** Returns the names of the results that docs/benchmarks.md lists as measured by older definitions. */
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

/** Returns the tables of docs/benchmarks.md. */
function formatPage(all: Reports): string {
  const parts = [...all].map(([name, { bars, date, commit, judged, machine, versions }]) => {
    const with_ = Object.entries(versions).map(([description, version]) => `${description} ${version}`);
    const again = judged && ` Judged again on ${judged.date.slice(0, 10)}, commit ${judged.commit}.`;
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

/** Returns the table of README.md. */
function formatReadme(all: Reports): string {
  const rows = HEADLINES.flatMap(([name, bar, words]) => {
    const found = all.get(name)?.bars.find((item) => item.name === bar);
    return found === undefined ? [] : [[words, range(found), `[\`${name}\`](${PAGE}#${name})`]];
  });
  return table(['what', 'measured', 'how'], rows);
}

/** Returns the pages whose figures are not those of the results, and writes them if asked to. */
export function updateFigures(isWriting: boolean): string[] {
  const older = listOlderResults();
  const names = listResults().filter((name) => !older.includes(name));
  const all = new Map(names.map((name) => [name, readResult(name)]));
  const contents = [
    [PAGE, formatPage(all)],
    ['README.md', formatReadme(all)],
  ] as const;
  return contents.flatMap(([page, content]) => {
    const text = read(page);
    const [before, remaining = ''] = text.split(BEGIN);
    const [, after] = remaining.split(END);
    if (after === undefined) throw new Error(`${page} lacks ${BEGIN} … ${END}`);
    const requested = `${before}${BEGIN}\n\n${content}\n\n${END}${after}`;
    if (requested === text) return [];
    if (isWriting) writeFileSync(urlOf(page), requested);
    return [page];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) updateFigures(true);
