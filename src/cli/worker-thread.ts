/**
 * Runs the server in a worker thread. It needs a heap as large as its memory, and a larger young
 * generation for short-lived objects than the default of V8. A program can set these sizes only for
 * workers. Flags of Node take precedence.
 */
import type { EventEmitter } from 'node:events';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { inspect } from 'node:util';
import { isMainThread, parentPort, Worker, type MessagePort } from 'node:worker_threads';
import { computeResourceLimits } from '../server/node/memory/memory-size.ts';
import { printError, showsColors } from './print.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
export type EndSignal = (typeof SIGNALS)[number];
/**
 * Signals that modules may listen for. Without a listener, such a signal ends the process as usual.
 */
const FORWARDED_SIGNALS = ['SIGHUP', 'SIGUSR2'] as const;
type ForwardedSignal = (typeof FORWARDED_SIGNALS)[number];
/** The exit code of a process that a signal ended is this number plus that of the signal. */
export const EXIT_BY_SIGNAL = 128;

/**
 * Whether this is the first process of a container. The kernel ignores signals to it that no
 * listener handles: without a listener it would run until the container is killed.
 */
export const isFirstProcess = process.pid === 1;

/**
 * A message of the worker thread to the main thread: the server is ready, or a module does or does
 * not listen for a signal.
 */
type WorkerMessage =
  | { readonly signal?: undefined }
  | { readonly signal: ForwardedSignal; readonly hasListener: boolean };

const STOPPING =
  'stopping: operations in flight are finished first. Press Ctrl-C again to stop at once.';

/** How long modules have to close what they opened. */
const CLOSE_TIMEOUT_MS = 2000;

/** Whether this is the worker thread that serves, and not the main thread that starts it. */
export const isWorkerThread = !isMainThread;

/**
 * Runs `file` once more with the same command line in a worker thread. The process ends with the
 * exit code of the worker.
 *
 * @param memoryBytes the memory that the process may take
 */
export async function runInWorkerThread(file: URL, memoryBytes: number): Promise<void> {
  const worker = new Worker(file, {
    argv: process.argv.slice(2),
    resourceLimits: computeResourceLimits(memoryBytes),
    stdout: true,
    stderr: true,
    // The streams of the worker are no terminals, so it cannot find out that these are.
    env: showsColors() ? { ...process.env, FORCE_COLOR: '1' } : process.env,
  });
  pipeLines(worker.stdout, process.stdout);
  pipeLines(worker.stderr, process.stderr);
  let isInterruptible = false;
  // A thread's `postMessage` takes no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  const pass = (signal: EndSignal | ForwardedSignal): void => worker.postMessage(signal);
  const interrupt = (signal: EndSignal): void => {
    // A second signal ends the process as usual, and so does the first one before the server is
    // ready.
    for (const item of SIGNALS) process.off(item, interrupt);
    if (!isInterruptible) return endProcess(signal);
    if (isFirstProcess) for (const item of SIGNALS) process.on(item, endProcess);
    if (signal === 'SIGINT') console.error(STOPPING);
    pass(signal);
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  if (isFirstProcess) for (const signal of FORWARDED_SIGNALS) process.on(signal, endProcess);
  worker.on('message', (reported: WorkerMessage) => {
    if (reported.signal === undefined) isInterruptible = true;
    else if (!reported.hasListener) endProcess(reported.signal);
    else process.off(reported.signal, endProcess).on(reported.signal, pass);
  });
  // Print the error here. Without a listener, Node prints it among its own stack frames, which do
  // not help.
  worker.once('error', (error) =>
    printError(`nothing caught this error, so the process ends: ${inspect(error)}`),
  );
  process.exitCode = await new Promise<number>((resolve) => worker.once('exit', resolve));
}

/** Ends the process as the default action of the signal does. */
function endProcess(signal: EndSignal | ForwardedSignal): void {
  if (isFirstProcess) process.exit(EXIT_BY_SIGNAL + constants.signals[signal]);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Pipes lines, and drops those that cannot be written, like `createLineWriter`. */
function pipeLines(from: Readable, to: Writable): void {
  to.on('error', () => {});
  from.on('data', (chunk: Uint8Array) => to.write(chunk));
}

/**
 * Makes the main thread forward the signals that modules listen for, from the first listener on.
 * Call it before modules are loaded.
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
export function waitForEndSignal(ended: Promise<EndSignal>): Promise<EndSignal> {
  const from = getParentPort();
  const interrupted = new Promise<EndSignal>((resolve) => {
    const end = (signal: EndSignal): void => {
      // Signals are still forwarded while the thread ends, but the port must not keep it alive.
      from.unref();
      resolve(signal);
    };
    from.on('message', (value: EndSignal | ForwardedSignal) => {
      if (value === 'SIGHUP' || value === 'SIGUSR2') forwardSignal(value);
      else end(value);
    });
    void ended.then(end);
  });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  from.postMessage({} satisfies WorkerMessage);
  return interrupted;
}

/**
 * Calls back once, with the first signal that ends the process as usual. A second one does that at
 * once.
 */
export function onEndSignal(run: (signal: EndSignal) => void): void {
  if (isWorkerThread) {
    void waitForEndSignal(new Promise(() => {})).then(run);
    return;
  }
  const end = (signal: EndSignal): void => {
    for (const item of SIGNALS) process.off(item, end);
    run(signal);
  };
  for (const signal of SIGNALS) process.on(signal, end);
}

/**
 * Makes a signal end the process by an exit, so that what the process removes at its exit is
 * removed. A terminal that is closed sends SIGHUP.
 */
export function exitOnEndSignal(): void {
  process.once('SIGHUP', () => process.exit(EXIT_BY_SIGNAL + constants.signals.SIGHUP));
  onEndSignal((signal) => process.exit(EXIT_BY_SIGNAL + constants.signals[signal]));
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
function callListeners(signal: EndSignal | ForwardedSignal): boolean {
  const listeners: EventEmitter = process;
  return listeners.emit(signal, signal, constants.signals[signal]);
}

/**
 * Passes the signal to modules, which close what they opened. After `CLOSE_TIMEOUT_MS` the process
 * exits even if handles are open.
 */
export function closeModules(signal: EndSignal): void {
  const problem = `a module keeps something open after ${signal}: close it in process.on('${signal}', …)`;
  const end = (): never => {
    printError(problem);
    process.exit();
  };
  setTimeout(end, CLOSE_TIMEOUT_MS).unref();
  callListeners(signal);
}
