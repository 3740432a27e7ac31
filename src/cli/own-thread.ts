/**
 * The thread in which the command serves. A site under load makes many objects that are gone after a moment, and V8 has
 * room for few of them unless it is told when a thread begins. For the main thread that is the command line's to say, and
 * what `v8.setFlagsFromString` says later is not looked at; a worker is told by whoever starts it. It shares the number of
 * the process, its descriptors, and its end by `kill -9`.
 */
import type { EventEmitter } from 'node:events';
import { constants, totalmem } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { inspect } from 'node:util';
import { isMainThread, parentPort, Worker, type MessagePort, type ResourceLimits } from 'node:worker_threads';

/** What `--max-semi-space-size` would say: the most that is copied within, 16 MB in Node 20 and 22. */
const SEMI_SPACE_MB = 64;
/** V8 counts two of them, and as much again for large objects. */
const YOUNG_GENERATION_MB = 3 * SEMI_SPACE_MB;
/** Where there is less, V8 chooses a size that fits. */
const MEMORY_MIN = 2 ** 30;

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
type Signal = (typeof SIGNALS)[number];
/** What modules may listen for as they like: without a listener these end the process, as they would any other. */
const PASSED_ON = ['SIGHUP', 'SIGUSR2'] as const;
type PassedOn = (typeof PASSED_ON)[number];

/** What the own thread says to the one that started it: that it serves, or whether anybody listens for a signal. */
type Said = { readonly signal?: undefined } | { readonly signal: PassedOn; readonly isHeard: boolean };

/** What modules have for closing what they opened. */
const CLOSING_MS = 2000;

/** Whether this is the thread to serve in, rather than the one that starts it. */
export const isOwnThread = !isMainThread;

/** Runs `file` once more with the same command line, in a thread of its own; this process then ends as that one does. */
export async function runInOwnThread(file: URL): Promise<void> {
  const worker = new Worker(file, {
    argv: process.argv.slice(2),
    resourceLimits: resourceLimitsOn(memoryBytes()),
    stdout: true,
    stderr: true,
  });
  write(worker.stdout, process.stdout);
  write(worker.stderr, process.stderr);
  let isInterruptible = false;
  // A thread's `postMessage` takes no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  const pass = (signal: Signal | PassedOn): void => worker.postMessage(signal);
  const interrupt = (signal: Signal): void => {
    // A second one, of either kind, ends the process as it would any other; so does the first before it serves.
    for (const each of SIGNALS) process.off(each, interrupt);
    if (isInterruptible) pass(signal);
    else process.kill(process.pid, signal);
  };
  const endBy = (signal: PassedOn): void => {
    process.off(signal, pass);
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  worker.on('message', (said: Said) => {
    if (said.signal === undefined) isInterruptible = true;
    else if (said.isHeard) process.on(said.signal, pass);
    else endBy(said.signal);
  });
  // Without a listener Node prints it, amid frames and lines of its own that say nothing of it.
  worker.once('error', (error) =>
    console.error(`correctables: nothing caught this error, so the process ends: ${inspect(error)}`),
  );
  process.exitCode = await new Promise<number>((resolve) => worker.once('exit', resolve));
}

/** As `linesTo` does: what cannot be written is dropped, nobody waits for it, and nothing ends by it. */
function write(from: Readable, to: Writable): void {
  to.on('error', () => {});
  from.on('data', (chunk: Uint8Array) => to.write(chunk));
}

/**
 * In the own thread, before modules are loaded: has those signals passed on for which they listen. Once they have, all
 * are passed on: one that has come while a listener leaves would be lost to either.
 */
export function listenForModules(): void {
  const isPassedOn = new Set<PassedOn>();
  const listeners: EventEmitter = process;
  listeners.on('newListener', (event: string | symbol) => {
    const signal = PASSED_ON.find((each) => each === event);
    if (signal === undefined || isPassedOn.has(signal)) return;
    isPassedOn.add(signal);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    port().postMessage({ signal, isHeard: true } satisfies Said);
  });
}

/**
 * In the own thread: the signal that asks the process to end. It may as soon as this has been called; until then, the
 * listeners of modules get the others.
 */
export function untilAskedToEnd(): Promise<Signal> {
  const from = port();
  const interrupted = new Promise<Signal>((resolve) => {
    from.on('message', (given: Signal | PassedOn) => {
      if (given === 'SIGHUP' || given === 'SIGUSR2') return passOn(given);
      // Signals are still passed on while it ends, and do not keep it.
      from.unref();
      resolve(given);
    });
  });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  from.postMessage({} satisfies Said);
  return interrupted;
}

function port(): MessagePort {
  if (parentPort === null) throw new Error('signals are passed on to the own thread');
  return parentPort;
}

/** To whoever listens for it. Without anybody it ends the process, as it would any other. */
function passOn(signal: PassedOn): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  if (!callListeners(signal)) port().postMessage({ signal, isHeard: false } satisfies Said);
}

/** Node calls the listeners of no thread for a signal. Says whether there were any. */
function callListeners(signal: Signal | PassedOn): boolean {
  const listeners: EventEmitter = process;
  return listeners.emit(signal, signal, constants.signals[signal]);
}

/**
 * In the own thread, once nobody is served any more: modules are told of the signal, and close what they opened; what they
 * leave open would keep the process for ever, and is let go.
 */
export function endModules(signal: Signal): void {
  const problem = `a module keeps something open after ${signal}: close it in process.on('${signal}', …)`;
  const end = (): never => {
    console.error(`correctables: ${problem}`);
    process.exit();
  };
  setTimeout(end, CLOSING_MS).unref();
  callListeners(signal);
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
