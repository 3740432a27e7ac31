/**
 * The thread that serves: short-lived objects need more room than V8 gives, and only workers get
 * limits from code.
 */
import type { EventEmitter } from 'node:events';
import { constants, totalmem } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { inspect } from 'node:util';
import {
  isMainThread,
  parentPort,
  Worker,
  type MessagePort,
  type ResourceLimits,
} from 'node:worker_threads';

/**
 * What `--max-semi-space-size` would say: the most that is copied within, 16 MB in Node 20 and 22.
 */
const SEMI_SPACE_MB = 64;
/** V8 counts two of them, and as much again for large objects. */
const YOUNG_GENERATION_MB = 3 * SEMI_SPACE_MB;
/** Where there is less, V8 chooses a size that fits. */
const MIN_MEMORY_BYTES = 2 ** 30;

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
type Signal = (typeof SIGNALS)[number];
/**
 * What modules may listen for as they like: without a listener these end the process, as they would
 * any other.
 */
const FORWARDED_SIGNALS = ['SIGHUP', 'SIGUSR2'] as const;
type ForwardedSignal = (typeof FORWARDED_SIGNALS)[number];
/** A shell reports the end by a signal as this plus the number of the signal. */
const EXIT_BY_SIGNAL = 128;

/**
 * Whether this is the first process of a container. The kernel ignores signals to it that no
 * listener handles: without a listener it would run until the container is killed.
 */
export const isFirstProcess = process.pid === 1;

/**
 * What the own thread says to the one that started it: that it serves, or whether anybody listens
 * for a signal.
 */
type WorkerMessage =
  | { readonly signal?: undefined }
  | { readonly signal: ForwardedSignal; readonly hasListener: boolean };

/** What modules have for closing what they opened. */
const CLOSE_TIMEOUT_MS = 2000;

/** Whether this is the thread to serve in, rather than the one that starts it. */
export const isWorkerThread = !isMainThread;

/**
 * Runs `file` once more with the same command line, in a thread of its own; this process then ends
 * as that one does.
 */
export async function runInWorkerThread(file: URL): Promise<void> {
  const worker = new Worker(file, {
    argv: process.argv.slice(2),
    resourceLimits: computeResourceLimits(readMemoryBytes()),
    stdout: true,
    stderr: true,
  });
  pipeLines(worker.stdout, process.stdout);
  pipeLines(worker.stderr, process.stderr);
  let isInterruptible = false;
  // A thread's `postMessage` takes no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  const pass = (signal: Signal | ForwardedSignal): void => worker.postMessage(signal);
  const interrupt = (signal: Signal): void => {
    // A second one, of either kind, ends the process as it would any other; so does the first
    // before it serves.
    for (const item of SIGNALS) process.off(item, interrupt);
    if (!isInterruptible) return endProcess(signal);
    if (isFirstProcess) for (const item of SIGNALS) process.on(item, endProcess);
    pass(signal);
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  if (isFirstProcess) for (const signal of FORWARDED_SIGNALS) process.on(signal, endProcess);
  worker.on('message', (reported: WorkerMessage) => {
    if (reported.signal === undefined) isInterruptible = true;
    else if (!reported.hasListener) endProcess(reported.signal);
    else process.off(reported.signal, endProcess).on(reported.signal, pass);
  });
  // Without a listener Node prints it, amid frames and lines of its own that say nothing of it.
  worker.once('error', (error) =>
    console.error(`error: nothing caught this error, so the process ends: ${inspect(error)}`),
  );
  process.exitCode = await new Promise<number>((resolve) => worker.once('exit', resolve));
}

/** Ends the process as the default action of the signal does. */
function endProcess(signal: Signal | ForwardedSignal): void {
  if (isFirstProcess) process.exit(EXIT_BY_SIGNAL + constants.signals[signal]);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** As `createLineWriter` does: drops lines that cannot be written, without any other effect. */
function pipeLines(from: Readable, to: Writable): void {
  to.on('error', () => {});
  from.on('data', (chunk: Uint8Array) => to.write(chunk));
}

/**
 * Before modules are loaded: forwards the signals that they listen for, from the first listener on.
 */
export function forwardSignals(): void {
  const isPassedOn = new Set<ForwardedSignal>();
  const listeners: EventEmitter = process;
  listeners.on('newListener', (event: string | symbol) => {
    const signal = FORWARDED_SIGNALS.find((item) => item === event);
    if (signal === undefined || isPassedOn.has(signal)) return;
    isPassedOn.add(signal);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    getParentPort().postMessage({ signal, hasListener: true } satisfies WorkerMessage);
  });
}

/**
 * Resolves with the signal that ends the process, or with that of `ended`. Modules get the other
 * signals.
 */
export function waitForEndSignal(ended: Promise<Signal>): Promise<Signal> {
  const from = getParentPort();
  const interrupted = new Promise<Signal>((resolve) => {
    const end = (signal: Signal): void => {
      // Signals are still passed on while it ends, and do not keep it.
      from.unref();
      resolve(signal);
    };
    from.on('message', (value: Signal | ForwardedSignal) => {
      if (value === 'SIGHUP' || value === 'SIGUSR2') forwardSignal(value);
      else end(value);
    });
    void ended.then(end);
  });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  from.postMessage({} satisfies WorkerMessage);
  return interrupted;
}

function getParentPort(): MessagePort {
  if (parentPort === null) throw new Error('signals are passed on to the own thread');
  return parentPort;
}

/** Emits the signal to its listeners. Without a listener it ends the process as usual. */
function forwardSignal(signal: ForwardedSignal): void {
  if (callListeners(signal)) return;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  getParentPort().postMessage({ signal, hasListener: false } satisfies WorkerMessage);
}

/**
 * Calls the listeners of a signal, which Node does not do in a thread. Returns whether there were
 * any.
 */
function callListeners(signal: Signal | ForwardedSignal): boolean {
  const listeners: EventEmitter = process;
  return listeners.emit(signal, signal, constants.signals[signal]);
}

/**
 * Passes the signal to modules, which close what they opened. After a time, open handles are
 * dropped.
 */
export function closeModules(signal: Signal): void {
  const problem = `a module keeps something open after ${signal}: close it in process.on('${signal}', …)`;
  const end = (): never => {
    console.error(`error: ${problem}`);
    process.exit();
  };
  setTimeout(end, CLOSE_TIMEOUT_MS).unref();
  callListeners(signal);
}

/**
 * What the thread may have on a machine with so many bytes of memory. Flags that are given to Node
 * go before it.
 */
export function computeResourceLimits(bytes: number): ResourceLimits {
  return bytes < MIN_MEMORY_BYTES ? {} : { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB };
}

/** Returns the memory of the machine, or the limit of the container. */
function readMemoryBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}
