/**
 * Clients that work at a steady rate on a fixed number of rows: what a site holds has no reason to
 * grow.
 */
import { WebSocket } from 'ws';
import { redblue, type RedBlueLevels } from '../../src/bindings/redblue/index.ts';
import { createClient, isCorrectableError, type Client, type Operation } from '../../src/index.ts';
import { Random } from '../../src/server/service/collections/random.ts';
import { chaos } from '../chaos/contract.ts';
import type { Counter } from '../histories/counter.ts';
import { pause } from '../histories/pause.ts';
import { drawShare, type Shares } from '../histories/repeat.ts';

const KEYS = 100;
const TIMEOUT_MS = 10_000;

type Draw = (random: Random, name: string) => readonly Operation<unknown>[];

const drawKey = (random: Random): { readonly key: string } => ({
  key: `k${random.between(1, KEYS)}`,
});

/** Blue and red updates and reads. What is added to a queue is taken again. */
const DRAWS: Shares<Draw> = [
  [0.4, (random, value) => [chaos.write({ ...drawKey(random), value })]],
  [0.2, (random, value) => [chaos.put({ ...drawKey(random), value })]],
  [0.1, (random, value) => [chaos.swap({ ...drawKey(random), value })]],
  [0.2, (random) => [chaos.read(drawKey(random)), chaos.get(drawKey(random))]],
  [
    0.1,
    (_, item) =>
      [chaos.enqueue({ queue: 'q', item }), chaos.dequeue({ queue: 'q' })] as Operation<unknown>[],
  ],
];

/**
 * Updates that fill what sites remember: answers of other sites, and the window of certification.
 */
const FILL_DRAWS: Shares<Draw> = [
  [0.93, (random, value) => [chaos.write({ ...drawKey(random), value })]],
  [0.07, (random, value) => [chaos.put({ ...drawKey(random), value })]],
];
const FILL_IN_FLIGHT = 48;
/** Operations of a client that are in flight at a time, at most. */
const LOOPS = 16;

/** A client. It fills and works: what sites remember of it has its size then. */
export interface Worker {
  readonly name: string;
  readonly client: Client<RedBlueLevels>;
  readonly seed: number;
  readonly operationsPerSecond: number;
}

/** @param urls addresses of the sites, the nearest first */
export function openClient(urls: readonly string[]): Client<RedBlueLevels> {
  return createClient(redblue(chaos, { url: urls as [string, ...string[]], WebSocket }), {
    timeoutMs: TIMEOUT_MS,
  });
}

/** Works as fast as sites answer, until `isEnough`. */
export async function fill(
  { name, client, seed }: Worker,
  counts: Counter,
  isEnough: () => boolean,
): Promise<void> {
  const random = new Random(seed);
  let count = 0;
  const loop = async (): Promise<void> => {
    while (!isEnough()) {
      count += 1;
      const [operation] = drawShare(random, FILL_DRAWS)(random, `${name}.fill.${count}`);
      counts.add(await runOne(() => client.invokeStrong(operation as Operation<unknown>)));
    }
  };
  await Promise.all(Array.from({ length: FILL_IN_FLIGHT }, loop));
}

/**
 * Works until `signal` is aborted, and counts what came of it. Red operations wait for other sites:
 * several loops keep the rate.
 */
export async function work(
  { name, client, seed, operationsPerSecond }: Worker,
  counts: Counter,
  signal: AbortSignal,
): Promise<void> {
  const random = new Random(seed);
  const fromMs = performance.now();
  let count = 0;
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      const operations = drawShare(random, DRAWS)(random, `${name}.${count}`);
      count += operations.length;
      const dueMs = fromMs + (count * 1000) / operationsPerSecond;
      for (const operation of operations)
        counts.add(await runOne(() => client.invokeStrong(operation)));
      if (dueMs > performance.now()) await pause(dueMs - performance.now(), signal);
    }
  };
  await Promise.all(Array.from({ length: LOOPS }, loop));
}

async function runOne(run: () => PromiseLike<unknown>): Promise<string> {
  try {
    await run();
    return 'success';
  } catch (error) {
    if (isCorrectableError(error)) return error.code;
    throw error;
  }
}
