/**
 * Compares engines for rows on a disk: `node --import tsx test/row-stores/measure.ts`. The
 * figures and what was decided are in docs/decisions/rows-on-disk.md.
 */
import { randomFillSync } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { cac } from 'cac';
import { numberBetween, oneOf, parseFlags } from '../../demo/shared/flags.ts';
import { UsageError } from '../../engines/usage-error.ts';
import { LevelRowStore } from '../../src/server/node/storage/rows/level-row-store.ts';
import type { RowStore } from '../../src/server/node/storage/rows/row-store.ts';
import { commit, type BatchChanges } from './commit.ts';
import { SqliteRowStore } from './sqlite-row-store.ts';

const ENGINES = {
  level: (folder: string) => LevelRowStore.open(folder),
  sqlite: (folder: string) => SqliteRowStore.open(folder),
} as const;

interface Options {
  readonly engine: keyof typeof ENGINES;
  readonly rows: number;
  readonly valueBytes: number;
  readonly commitRows: number;
  readonly commits: number;
  readonly folder: string;
}

interface CommitFigures {
  readonly commitMs: number;
  /** The longest time in which the event loop did nothing else. */
  readonly longestPauseMs: number;
  readonly readUs: { readonly median: number; readonly p99: number };
  readonly writtenMb: number;
}

const COLD_READS = 50_000;
const EXIT_USAGE = 2;

/** Values are slices of these bytes, which do not compress. */
const NOISE = randomFillSync(new Uint8Array(4 * 1024 * 1024));

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`row-stores: ${error.message}\n`);
  process.exit(EXIT_USAGE);
}

async function main(argv: readonly string[]): Promise<void> {
  const cli = cac('node --import tsx test/row-stores/measure.ts');
  cli
    .command('[...none]', 'Measure an engine for rows on a disk: commits, reads, pauses, a start')
    .option('--engine <name>', Object.keys(ENGINES).join(' or '), { default: 'level' })
    .option('--rows <n>', 'How many rows the store has', { default: 1_000_000 })
    .option('--value-bytes <n>', 'The size of a value', { default: 100 })
    .option('--commit-rows <n>', 'How many random rows a commit changes', { default: 60_000 })
    .option('--commits <n>', 'How many commits follow each other', { default: 5 })
    .option(
      '--directory <path>',
      'Where the store is (default: a new directory, removed at the end)',
    );
  const flags = parseFlags(cli, argv);
  if (flags === undefined) return;
  const given = flags['directory'];
  const folder =
    given === undefined
      ? await mkdtemp(join(tmpdir(), 'correctables-rows-'))
      : resolve(String(given));
  const whole = (name: string, max: number): number => numberBetween(flags, name, { min: 1, max });
  const options: Options = {
    engine: oneOf(flags, 'engine', Object.keys(ENGINES) as (keyof typeof ENGINES)[]),
    rows: whole('rows', 1e9),
    valueBytes: whole('valueBytes', 1e6),
    commitRows: whole('commitRows', 1e6),
    commits: whole('commits', 1e5),
    folder,
  };
  try {
    process.stdout.write(`${JSON.stringify(await measure(options))}\n`);
  } finally {
    if (given === undefined) await rm(folder, { recursive: true });
  }
}

async function measure(options: Options): Promise<object> {
  const { engine, rows, folder, commits } = options;
  const open = ENGINES[engine];
  let store = await open(folder);
  const fill = await measureFill(store, options);
  await store.close();
  const began = performance.now();
  store = await open(folder);
  store.get(keyOf(0));
  const startMs = performance.now() - began;
  const coldReadUs = measureReads(store, rows);
  const steps: CommitFigures[] = [];
  for (let step = 0; step < commits; step += 1) {
    steps.push(await measureCommit(store, options));
    process.stderr.write(`row-stores: commit ${step + 1}: ${JSON.stringify(steps.at(-1))}\n`);
  }
  await store.close();
  const { rss } = process.memoryUsage();
  return {
    engine,
    rows,
    valueBytes: options.valueBytes,
    fillRowsPerSecond: Math.round(fill),
    startMs: Math.round(startMs),
    coldReadUs,
    commits: steps,
    diskMb: await measureFolder(folder),
    memoryMb: toMb(rss),
  };
}

async function measureFill(store: RowStore, options: Options): Promise<number> {
  const began = performance.now();
  for (let from = 0; from < options.rows; from += options.commitRows) {
    const to = Math.min(options.rows, from + options.commitRows);
    const numbers = Array.from({ length: to - from }, (_, at) => from + at);
    await commit(store, createBatch(numbers, options.valueBytes));
  }
  return options.rows / ((performance.now() - began) / 1000);
}

async function measureCommit(store: RowStore, options: Options): Promise<CommitFigures> {
  const { rows, commitRows, valueBytes } = options;
  const numbers = [...new Set(Array.from({ length: commitRows }, () => draw(rows)))];
  const batch = createBatch(numbers, valueBytes);
  const writtenBefore = readWrittenBytes();
  const began = performance.now();
  const progress = { isOver: false };
  const ended = commit(store, batch).then(() => (progress.isOver = true));
  const readUs: number[] = [];
  let longestPauseMs = performance.now() - began;
  let lastMs = performance.now();
  while (!progress.isOver) {
    await new Promise(setImmediate);
    const nowMs = performance.now();
    longestPauseMs = Math.max(longestPauseMs, nowMs - lastMs);
    readUs.push(timeRead(store, rows));
    lastMs = performance.now();
  }
  await ended;
  return {
    commitMs: Math.round(performance.now() - began),
    longestPauseMs: Math.round(longestPauseMs),
    readUs: { median: quantile(readUs, 0.5), p99: quantile(readUs, 0.99) },
    writtenMb: toMb(readWrittenBytes() - writtenBefore),
  };
}

function createBatch(numbers: readonly number[], valueBytes: number): BatchChanges {
  const puts = numbers.map((number) => [keyOf(number), drawValue(valueBytes)] as const);
  return { puts, removals: [] };
}

function measureReads(store: RowStore, rows: number): object {
  const us = Array.from({ length: COLD_READS }, () => timeRead(store, rows));
  return { median: quantile(us, 0.5), p99: quantile(us, 0.99) };
}

function timeRead(store: RowStore, rows: number): number {
  const key = keyOf(draw(rows));
  const began = performance.now();
  if (store.get(key) === undefined) throw new Error('a row is missing');
  return (performance.now() - began) * 1000;
}

function keyOf(number: number): Uint8Array {
  return Buffer.from(`notes/user-${number}`);
}

function drawValue(bytes: number): Uint8Array {
  const from = draw(NOISE.length - bytes);
  return NOISE.subarray(from, from + bytes);
}

function draw(below: number): number {
  return Math.floor(Math.random() * below);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Number((sorted[Math.floor(sorted.length * share)] ?? NaN).toFixed(1));
}

/** What this process has written, compaction included; 0 where the system does not report it. */
function readWrittenBytes(): number {
  const file = '/proc/self/io';
  if (!existsSync(file)) return 0;
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? 0);
}

async function measureFolder(folder: string): Promise<number> {
  const files = await readdir(folder);
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  return toMb(sizes.reduce((sum, size) => sum + size, 0));
}

function toMb(bytes: number): number {
  return Math.round(bytes / 1e6);
}
