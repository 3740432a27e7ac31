/**
 * Ends a process inside commits, and fills its disk: `node --import tsx
 * test/row-stores/crashes.ts --kills 1000`. A commit must be there as a whole or not at all,
 * and each one that was reported must be there.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cac } from 'cac';
import { numberBetween, parseFlags } from '../../demo/shared/flags.ts';
import { UsageError } from '../../engines/usage-error.ts';
import { LevelRowStore } from '../../src/server/node/storage/rows/level-row-store.ts';
import type { RowStore } from '../../src/server/node/storage/rows/row-store.ts';
import { commit, type BatchChanges } from './commit.ts';

const ROWS = 2_000;
const LONGEST_RUN_MS = 120;
const EXIT_FOUND = 1;
const EXIT_USAGE = 2;
const CHILD = 'commit-until-killed';

try {
  const [first, second] = process.argv.slice(2);
  if (first === CHILD) await commitUntilKilled(second as string);
  else await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`row-stores: ${error.message}\n`);
  process.exit(EXIT_USAGE);
}

async function main(argv: readonly string[]): Promise<void> {
  const cli = cac('node --import tsx test/row-stores/crashes.ts');
  cli
    .command('[...none]', 'Kill a process inside commits, and check what is left')
    .option('--kills <n>', 'How often', { default: 100 })
    .option(
      '--full <folder>',
      'Fill this small file system instead, then remove its file `reserve`',
    );
  const flags = parseFlags(cli, argv);
  if (flags === undefined) return;
  const found =
    flags['full'] === undefined
      ? await killOften(numberBetween(flags, 'kills', { min: 1, max: 1e6 }))
      : await fillDisk(String(flags['full']));
  process.stdout.write(`${JSON.stringify(found)}\n`);
  if (found.faults.length > 0) process.exit(EXIT_FOUND);
}

interface Found {
  readonly faults: readonly string[];
}

/** Each commit replaces all rows by its number. */
function createCommit(number: number): BatchChanges {
  const value = Buffer.alloc(200, `${number} `);
  return {
    puts: Array.from({ length: ROWS }, (_, row) => [Buffer.from(`row ${row}`), value]),
    removals: [],
  };
}

/** Returns the number of the commit that all rows have, or says that they differ. */
function readNumber(store: RowStore): number | string {
  const found = new Set(
    Array.from({ length: ROWS }, (_, row) => {
      const value = store.get(Buffer.from(`row ${row}`));
      return value === undefined ? 0 : Number.parseInt(Buffer.from(value).toString(), 10);
    }),
  );
  return found.size === 1 ? ([...found][0] as number) : `rows of ${[...found].join(', ')}`;
}

async function commitUntilKilled(folder: string): Promise<void> {
  const store = await LevelRowStore.open(folder);
  let number = readNumber(store);
  if (typeof number === 'string') throw new Error(number);
  for (;;) {
    number += 1;
    await commit(store, createCommit(number));
    process.send?.(number);
  }
}

async function killOften(kills: number): Promise<Found & { readonly commits: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'correctables-rows-'));
  const faults: string[] = [];
  let reported = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const child = fork(fileURLToPath(import.meta.url), [CHILD, folder], {
      execArgv: process.execArgv,
    });
    reported = Math.max(reported, await killInside(child));
    const store = await LevelRowStore.open(folder);
    const found = readNumber(store);
    await store.close();
    if (typeof found === 'string') faults.push(`kill ${kill}: ${found}`);
    else if (found < reported) faults.push(`kill ${kill}: ${found} after ${reported} was reported`);
    else reported = found;
  }
  await rm(folder, { recursive: true });
  return { commits: reported, faults };
}

/** Ends the process some time after its first commit. Returns the last commit that it reported. */
async function killInside(child: ChildProcess): Promise<number> {
  let reported = 0;
  child.on('message', (number: number) => (reported = number));
  await once(child, 'message');
  await new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_RUN_MS));
  child.kill('SIGKILL');
  await once(child, 'exit');
  return reported;
}

/** Commits until the disk is full, removes the ballast, and goes on. */
async function fillDisk(folder: string): Promise<Found & { readonly error: string }> {
  const store = await LevelRowStore.open(join(folder, 'rows'));
  await commit(store, createCommit(1));
  const faults: string[] = [];
  let ballast = 0;
  const error = await grow(store, () => (ballast += 1));
  if (readNumber(store) !== 1) faults.push('a row has changed while the disk was full');
  const names = Array.from({ length: ballast }, (_, at) => Buffer.from(`ballast ${at}`));
  const kept = names.filter((name) => store.get(name) === undefined).length;
  if (kept > 0) faults.push(`${kept} reported entries are gone`);
  await rm(join(folder, 'reserve'), { force: true });
  await commit(store, { puts: [], removals: names });
  await commit(store, createCommit(2));
  await store.close();
  const again = await LevelRowStore.open(join(folder, 'rows'));
  if (readNumber(again) !== 2) faults.push('the commit after the disk had room again is not there');
  await again.close();
  return { error, faults };
}

async function grow(store: RowStore, onPut: () => void): Promise<string> {
  for (let at = 0; ; at += 1) {
    const value = Buffer.from(Array.from({ length: 1 << 18 }, () => Math.random() * 256));
    try {
      await commit(store, { puts: [[Buffer.from(`ballast ${at}`), value]], removals: [] });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return `${code}: ${message}`;
    }
    onPut();
  }
}
