/**
 * Starts operations: in closed loops, one after the other in each, or in an open loop, at a rate
 * that does not depend on their ends.
 */
import { Worker } from 'node:worker_threads';
import { cpuUsedUs, type ClientOrder, type ClientReport } from './messages.ts';

/** Begins the n-th operation. */
export type Submit = (n: number) => PromiseLike<unknown>;

/** The result of a run. */
export interface Driven {
  readonly operations: number;
  readonly latenciesMs: number[];
}

/** In a closed loop, the latency of one in this many operations is recorded. */
const LATENCY_EVERY = 16;

/** Runs concurrent loops, each of which awaits one operation after the other. */
export async function closedLoop(
  submit: Submit,
  window: number,
  durationMs: number,
): Promise<Driven> {
  let operations = 0;
  const latenciesMs: number[] = [];
  const time = { isOver: false };
  setTimeout(() => (time.isOver = true), durationMs);
  const loop = async (): Promise<void> => {
    while (!time.isOver) {
      const n = operations++;
      if (n % LATENCY_EVERY !== 0) {
        await submit(n);
        continue;
      }
      const from = performance.now();
      await submit(n);
      latenciesMs.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: window }, loop));
  return { operations, latenciesMs };
}

/** The options of an open loop. Tests pass a clock. */
export interface OpenLoop {
  readonly perSecond: number;
  /**
   * The maximum number of operations in flight. The latency of an operation that has to wait still
   * counts from its due time.
   */
  readonly window: number;
  readonly durationMs: number;
  /** Returns whether the latency of an operation is recorded. Default: always */
  readonly counts?: (n: number) => boolean;
  readonly now?: () => number;
  /** Calls `run` within `waitMs`, after messages that have arrived were handled. */
  readonly soon?: (run: () => void, waitMs: number) => void;
}

/**
 * A thread that waits more exactly than a timer. It does not busy-wait, because processor time may
 * be measured.
 */
const WAITER = `const { parentPort } = require('node:worker_threads');
const cell = new Int32Array(new SharedArrayBuffer(4));
parentPort.on('message', (waitMs) => parentPort.postMessage(Atomics.wait(cell, 0, 0, waitMs)));`;
let waiter: Worker | undefined;

function runSoon(run: () => void, waitMs: number): void {
  if (waitMs <= 0) return void setImmediate(run);
  waiter ??= new Worker(WAITER, { eval: true });
  waiter.unref();
  waiter.once('message', run);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  waiter.postMessage(waitMs);
}

/**
 * Starts operations at equal intervals. Each latency counts from the time at which its operation
 * was due. So operations that a stall delays are not left out ("coordinated omission").
 */
export function openLoop(submit: Submit, options: OpenLoop): Promise<Driven> {
  const {
    perSecond,
    window,
    durationMs,
    counts = () => true,
    now = () => performance.now(),
    soon = runSoon,
  } = options;
  const total = Math.floor((perSecond * durationMs) / 1000);
  const from = now();
  const dueAt = (n: number): number => from + (n * 1000) / perSecond;
  const latenciesMs: number[] = [];
  let begun = 0;
  let ended = 0;
  return new Promise((resolve, reject) => {
    const onEnd = (n: number): void => {
      if (counts(n)) latenciesMs.push(now() - dueAt(n));
      if (++ended === total) resolve({ operations: total, latenciesMs });
    };
    const onFailure = (error: unknown): void => {
      // After a failure, start no further operations.
      begun = total;
      reject(error as Error);
    };
    const begin = (): void => {
      const at = now();
      while (begun < total && begun - ended < window && dueAt(begun) <= at) {
        const n = begun++;
        submit(n).then(() => onEnd(n), onFailure);
      }
      if (begun < total) soon(begin, dueAt(begun) - now());
    };
    if (total === 0) resolve({ operations: 0, latenciesMs });
    else begin();
  });
}

/** Runs an open loop if there is a rate, otherwise closed loops. */
export function runLoop(
  submit: Submit,
  { perSecond, window, durationMs }: Pick<ClientOrder, 'perSecond' | 'window' | 'durationMs'>,
): Promise<Driven> {
  if (perSecond === undefined) return closedLoop(submit, window, durationMs);
  return openLoop(submit, { perSecond, window, durationMs });
}

/** Times a run, with the processor time of this process. */
export async function timeRun(run: () => Promise<Driven>): Promise<ClientReport> {
  const [cpuFrom, from] = [cpuUsedUs(), performance.now()];
  const { operations, latenciesMs } = await run();
  const [cpuUs, elapsedMs] = [cpuUsedUs() - cpuFrom, performance.now() - from];
  latenciesMs.sort((a, b) => a - b);
  const at = (share: number): number =>
    latenciesMs[Math.floor(share * (latenciesMs.length - 1))] ?? NaN;
  return { operations, elapsedMs, cpuUs, p50Ms: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999) };
}
