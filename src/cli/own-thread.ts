/**
 * The thread in which the command serves. A site under load makes many objects that are gone after a moment, and V8 has
 * room for few of them unless it is told when a thread begins. For the main thread that is the command line's to say, and
 * what `v8.setFlagsFromString` says later is not looked at; a worker is told by whoever starts it. It shares the number of
 * the process, its descriptors, and its end by `kill -9`.
 */
import type { EventEmitter } from 'node:events';
import { constants, totalmem } from 'node:os';
import { inspect } from 'node:util';
import { isMainThread, parentPort, Worker, type ResourceLimits } from 'node:worker_threads';

/** What `--max-semi-space-size` would say: the most that is copied within, 16 MB in Node 20 and 22. */
const SEMI_SPACE_MB = 64;
/** V8 counts two of them, and as much again for large objects. */
const YOUNG_GENERATION_MB = 3 * SEMI_SPACE_MB;
/** Where there is less, V8 chooses a size that fits. */
const MEMORY_MIN = 2 ** 30;

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
type Signal = (typeof SIGNALS)[number];

/** What modules have for closing what they opened. */
const CLOSING_MS = 2000;

/** Whether this is the thread to serve in, rather than the one that starts it. */
export const isOwnThread = !isMainThread;

/** Runs `file` once more with the same command line, in a thread of its own; this process then ends as that one does. */
export async function runInOwnThread(file: URL): Promise<void> {
  const worker = new Worker(file, { argv: process.argv.slice(2), resourceLimits: resourceLimitsOn(memoryBytes()) });
  let isInterruptible = false;
  worker.once('message', () => (isInterruptible = true));
  for (const signal of SIGNALS) {
    process.once(signal, () => {
      // A thread's `postMessage` takes no origin.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      if (isInterruptible) worker.postMessage(signal);
      // Before it serves, a signal ends the process as it would any other; so does a second one.
      else process.kill(process.pid, signal);
    });
  }
  // Without a listener Node prints it, amid frames and lines of its own that say nothing of it.
  worker.once('error', (error) =>
    console.error(`correctables: nothing caught this error, so the process ends: ${inspect(error)}`),
  );
  process.exitCode = await new Promise<number>((resolve) => worker.once('exit', resolve));
}

/** In the own thread: the signal that asks the process to end. It may as soon as this has been called. */
export function untilInterrupted(): Promise<Signal> {
  const port = parentPort;
  if (port === null) throw new Error('signals are passed on to the own thread');
  const interrupted = new Promise<Signal>((resolve) => port.once('message', resolve));
  port.postMessage('may be interrupted');
  return interrupted;
}

/**
 * In the own thread, once nobody is served any more. Node calls the listeners of no thread for a signal, so modules are told
 * of it here, and close what they opened; what they leave open would keep the process for ever, and is let go.
 */
export function endModules(signal: Signal): void {
  const problem = `a module keeps something open after ${signal}: close it in process.on('${signal}', …)`;
  const end = (): never => {
    console.error(`correctables: ${problem}`);
    process.exit();
  };
  setTimeout(end, CLOSING_MS).unref();
  const listeners: EventEmitter = process;
  listeners.emit(signal, signal, constants.signals[signal]);
}

/** What the thread may have on a machine with so many bytes of memory. Flags that are given to Node go before it. */
export function resourceLimitsOn(bytes: number): ResourceLimits {
  return bytes < MEMORY_MIN ? {} : { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB };
}

/** What the machine has, or the container may take. */
function memoryBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}
