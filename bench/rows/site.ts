/**
 * A process with one site on a data directory, for the benchmark of large tables. It calls the site
 * without a network, so that only the site is measured.
 */
import { randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { loadStore } from './service.ts';
import type { Memory, Order, Ran, Sample, SiteOrder, Started, Workload } from './messages.ts';

/** Operations in flight. */
const WINDOW = 256;
const TEXT_LENGTH = 100;
const SCANNED_KEYS = 1000;
const SAMPLED_ROWS = 1000;

const order = JSON.parse(process.argv[2] as string) as SiteOrder;
/** Texts that no store can compress. */
const noise = randomBytes(2 ** 16).toString('base64');

const open = await loadStore(order);
const beganAt = performance.now();
const store = await open();
await store.read(keyOf(0));
tell({ startMs: performance.now() - beganAt } satisfies Started);

process.on('message', (message: Order) => void execute(message).then(tell));
process.on('disconnect', () => void store.close().then(() => process.exit()));

function execute(message: Order): Promise<object> {
  switch (message.kind) {
    case 'fill':
      return repeat(message.rows, (n) => store.write(keyOf(n), createText()));
    case 'run':
      return repeat(message.operations, () => run(message.workload, message.rows));
    case 'sample':
      return sample(message.rows);
    case 'memory':
      return measureMemory();
  }
}

function run(workload: Workload, rows: number): Promise<unknown> {
  const key = keyOf(pickBelow(rows));
  if (workload === 'write') return store.write(key, createText());
  return workload === 'read' ? store.read(key) : store.scan(key, SCANNED_KEYS);
}

/** Runs so many operations, with a window of them in flight. */
async function repeat(operations: number, submit: (n: number) => Promise<unknown>): Promise<Ran> {
  const pauses = monitorEventLoopDelay({ resolution: 1 });
  pauses.enable();
  const from = performance.now();
  let next = 0;
  const runOne = async (): Promise<void> => {
    while (next < operations) await submit(next++);
  };
  await Promise.all(Array.from({ length: WINDOW }, runOne));
  const elapsedMs = performance.now() - from;
  await nextTurn();
  pauses.disable();
  return { usPerOperation: (elapsedMs * 1000) / operations, longestPauseMs: pauses.max / 1e6 };
}

async function sample(rows: number): Promise<Sample> {
  const step = Math.max(1, Math.floor(rows / SAMPLED_ROWS));
  const keys = Array.from({ length: Math.ceil(rows / step) }, (_, n) => keyOf(n * step));
  return { values: await Promise.all(keys.map((key) => store.read(key))) };
}

async function measureMemory(): Promise<Memory> {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.();
    await nextTurn();
  }
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return { bytes: heap + external };
}

function keyOf(n: number): string {
  return `row:${String(n).padStart(9, '0')}`;
}

function createText(): string {
  const from = pickBelow(noise.length - TEXT_LENGTH);
  return noise.slice(from, from + TEXT_LENGTH);
}

function pickBelow(end: number): number {
  return Math.floor(Math.random() * end);
}

function tell(message: object): void {
  process.send?.(message);
}
