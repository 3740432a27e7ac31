/**
 * Ends a site inside its checkpoints: `node --import tsx test/row-stores/site-crashes.ts --kills
 * 1000`. After each start, the site must have every write that it has confirmed before, and it may
 * have the ones that were in flight.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cac } from 'cac';
import { numberBetween, parseFlags } from '../../demo/shared/flags.ts';
import { UsageError } from '../../engines/usage-error.ts';
import { createClient } from '../../src/index.ts';
import { get, getMany, put } from '../../src/operations/index.ts';
import { openEmbedded } from '../../src/server/node/embedded/embedded.ts';
import { valuesService } from '../unit/server/node/storage/notes-service.ts';

const CHILD = 'write-until-killed';
const KEYS = 500;
const WRITERS = 16;
const VALUE = 'x'.repeat(1000);
const LONGEST_RUN_MS = 400;
/** With so little memory, a site makes a checkpoint after each MiB of its log. */
const MEMORY_BYTES = 64 * 2 ** 20;
const CACHE_BYTES = 2 ** 17;
const EXIT_FOUND = 1;
const EXIT_USAGE = 2;

/** What a site tells: the values with which it begins, and each write that is confirmed. */
type Message =
  | { readonly kind: 'found'; readonly numbers: readonly number[] }
  | { readonly kind: 'confirmed'; readonly key: number; readonly number: number }
  | { readonly kind: 'alarm'; readonly text: string };

try {
  const [first, folder, numbers] = process.argv.slice(2);
  if (first === CHILD) await writeUntilKilled(folder as string, Number(numbers));
  else await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`row-stores: ${error.message}\n`);
  process.exit(EXIT_USAGE);
}

async function main(argv: readonly string[]): Promise<void> {
  const cli = cac('node --import tsx test/row-stores/site-crashes.ts');
  cli
    .command('[...none]', 'Kill a site inside its checkpoints, and check what it has')
    .option('--kills <n>', 'How often', { default: 100 });
  const flags = parseFlags(cli, argv);
  if (flags === undefined) return;
  const found = await killOften(numberBetween(flags, 'kills', { min: 1, max: 1e6 }));
  process.stdout.write(`${JSON.stringify(found)}\n`);
  if (found.faults.length > 0) process.exit(EXIT_FOUND);
}

interface Found {
  readonly kills: number;
  readonly confirmed: number;
  /** How often the oldest log file had gone, since a checkpoint has what it had. */
  readonly removals: number;
  readonly faults: readonly string[];
}

async function killOften(kills: number): Promise<Found> {
  const folder = await mkdtemp(join(tmpdir(), 'site-crashes-'));
  /** By key: the last write that was confirmed, and the last one that was begun. */
  const confirmed = Array.from({ length: KEYS }, () => 0);
  const faults: string[] = [];
  let total = 0;
  let removals = 0;
  let oldest = '';
  for (let kill = 1; kill <= kills && faults.length === 0; kill += 1) {
    const child = start(folder, kill);
    child.on('message', (message: Message) => {
      if (message.kind === 'alarm') faults.push(`kill ${kill}: ${message.text}`);
      if (message.kind === 'confirmed') {
        total += 1;
        confirmed[message.key] = message.number;
      }
      if (message.kind !== 'found') return;
      for (const [key, number] of message.numbers.entries())
        if (number < (confirmed[key] as number))
          faults.push(`kill ${kill}: key ${key} is at ${number}, confirmed ${confirmed[key]}`);
    });
    await Promise.race([once(child, 'message'), failIfEnded(child, faults, kill)]);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_RUN_MS));
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    const names = readdirSync(join(folder, 'sites/ireland')).toSorted()[0] ?? '';
    if (names !== oldest) removals += 1;
    oldest = names;
    if (kill % 50 === 0) process.stderr.write(`${kill} of ${kills}: ${total} writes confirmed\n`);
  }
  if (faults.length === 0) await rm(folder, { recursive: true });
  else process.stderr.write(`the directory is left in ${folder}\n`);
  return { kills, confirmed: total, removals, faults };
}

function start(folder: string, kill: number): ChildProcess {
  return fork(fileURLToPath(import.meta.url), [CHILD, folder, String(kill)], {
    execArgv: ['--import', 'tsx', '--max-old-space-size=256'],
  });
}

async function failIfEnded(child: ChildProcess, faults: string[], kill: number): Promise<void> {
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== null) faults.push(`kill ${kill}: the start ended with ${code}`);
}

/** Writes each key with growing numbers, which are larger than those of all starts before. */
async function writeUntilKilled(dataDir: string, start: number): Promise<void> {
  const embedded = await openEmbedded(valuesService(), {
    sites: ['ireland'],
    dataDir,
    memoryBytes: MEMORY_BYTES,
    cacheBytes: CACHE_BYTES,
    checkColors: false,
    onAlarm: ({ kind, message }) => tell({ kind: 'alarm', text: `${kind}: ${message}` }),
  });
  const client = createClient(embedded.site('ireland'));
  const keys = Array.from({ length: KEYS }, (_, key) => `key ${key}`);
  const values = (await client.invokeWeak(getMany(keys))) as readonly unknown[];
  tell({ kind: 'found', numbers: values.map(toNumber) });
  let number = start * 1_000_000;
  const write = async (): Promise<void> => {
    for (;;) {
      number += 1;
      const own = number;
      const key = own % KEYS;
      await client.invoke(put(keys[key] as string, `${own} ${VALUE}`));
      tell({ kind: 'confirmed', key, number: own });
      if (toNumber(await client.invokeWeak(get(keys[key] as string))) < own)
        tell({ kind: 'alarm', text: `a read of key ${key} is older than ${own}` });
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
}

function toNumber(value: unknown): number {
  return typeof value === 'string' ? Number.parseInt(value, 10) : 0;
}

function tell(message: Message): void {
  process.send?.(message);
}
