/** A process of `correctables serve` that can be killed, frozen and started again. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { whenInterrupted } from '../../engines/when-interrupted.ts';
import { pause } from '../histories/pause.ts';

const PRELOAD = fileURLToPath(new URL('faults/preload.mjs', import.meta.url));
const START_MS = 60_000;
const END_MS = 20_000;
const POLL_MS = 50;
/** Alarms of a site that has stopped for good. Other sites raise `site-forked`, too. */
const STOPPED = /"alarm":"(?:site-stopped|site-fenced)"|"alarm":"site-forked".* has stopped/;

/** What the preloaded module reads: the process believes it. */
export interface Conditions {
  readonly clockAheadMs: number;
  readonly isDiskFull: boolean;
}

export const NORMAL: Conditions = { clockAheadMs: 0, isDiskFull: false };

export interface ProcessOptions {
  readonly name: string;
  /** The built command line. */
  readonly cli: string;
  /** Arguments of `serve`. */
  readonly args: readonly string[];
  /** A file for the conditions, of this process alone. */
  readonly conditionsFile: string;
  /** An existing directory for its error output. */
  readonly logs?: string | undefined;
}

/** How a start went: it listens, or it ended before. */
export type StartResult =
  | { readonly isListening: true }
  | { readonly isListening: false; readonly reason: string };

export class ServerProcess {
  readonly name: string;
  /** Lines of its error output since the last `takeLines`. */
  #lines: string[] = [];
  /** Its alarms by kind. */
  readonly alarms: Record<string, number> = {};
  /** Unexpected ends, for a person. */
  readonly complaints: string[] = [];
  readonly #options: ProcessOptions;
  #child: ChildProcess | undefined;
  /** Processes that were told to end. */
  readonly #endedOnRequest = new WeakSet<ChildProcess>();
  /** Processes whose sites must not go on, so that they may end by themselves. */
  readonly #mayEnd = new WeakSet<ChildProcess>();
  /** Processes whose sites have stopped for good. */
  readonly #stopped = new WeakSet<ChildProcess>();

  constructor(options: ProcessOptions) {
    this.name = options.name;
    this.#options = options;
    this.setConditions(NORMAL);
  }

  get isRunning(): boolean {
    return this.#child !== undefined && isAlive(this.#child);
  }

  /** Whether it runs, and its site has not stopped for good. */
  get isServing(): boolean {
    return this.#child !== undefined && this.#goesOn(this.#child);
  }

  /** Starts it with further arguments. Resolves when it listens, or has ended. */
  async start(...more: readonly string[]): Promise<StartResult> {
    const { cli, args, conditionsFile } = this.#options;
    const env = { ...process.env, CHAOS_CONDITIONS: conditionsFile };
    const command = ['--import', pathToFileURL(PRELOAD).href, cli, 'serve', ...args, ...more];
    const child = spawn(process.execPath, command, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    child.once(
      'exit',
      whenInterrupted(() => this.kill()),
    );
    const lines: string[] = [];
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      this.#takeLine(child, line);
    });
    const ended = once(child, 'exit').then(([code, signal]) => String(code ?? signal));
    let isListening = false;
    void ended.then((how) => {
      if (this.#endedOnRequest.has(child) || this.#mayEnd.has(child) || !isListening) return;
      this.complaints.push(`${this.name} ended by itself (${how}): ${lines.slice(-3).join(' | ')}`);
    });
    const listening = once(createInterface({ input: child.stdout }), 'line', {
      signal: AbortSignal.timeout(START_MS),
    });
    const result = await Promise.race([
      listening.then(() => ({ isListening: true }) as const),
      ended.then(
        (how) =>
          ({
            isListening: false,
            reason: `ended (${how}): ${lines.slice(-3).join(' | ')}`,
          }) as const,
      ),
    ]);
    listening.catch(() => {});
    isListening = result.isListening;
    return result;
  }

  /** Starts it, and throws if it does not listen. */
  async begin(...more: readonly string[]): Promise<void> {
    const result = await this.start(...more);
    if (!result.isListening) throw new Error(`${this.name} does not start: ${result.reason}`);
  }

  /** `kill -9`. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** As an operator ends it; by force if that takes too long. */
  end(): Promise<void> {
    return this.#end('SIGTERM');
  }

  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /**
   * Whether its site, which must not go on, stops within `withinMs`. The end of the process counts,
   * requested or not.
   */
  async stopsItself(withinMs: number): Promise<boolean> {
    const child = this.#child;
    if (child === undefined) return true;
    this.#mayEnd.add(child);
    const untilMs = performance.now() + withinMs;
    while (this.#goesOn(child) && !this.#endedOnRequest.has(child)) {
      if (performance.now() > untilMs) {
        this.#mayEnd.delete(child);
        return false;
      }
      await pause(POLL_MS);
    }
    return true;
  }

  /** Takes effect within a fraction of a second. */
  setConditions(conditions: Conditions): void {
    writeFileSync(this.#options.conditionsFile, JSON.stringify(conditions));
  }

  #goesOn(child: ChildProcess): boolean {
    return isAlive(child) && !this.#stopped.has(child);
  }

  #takeLine(child: ChildProcess, line: string): void {
    const { logs } = this.#options;
    if (logs !== undefined)
      appendFileSync(join(logs, `${this.name}.log`), `${Math.round(performance.now())} ${line}\n`);
    this.#lines = [...this.#lines.slice(-50), line];
    const alarm = /"alarm":"([^"]+)"/.exec(line)?.[1];
    if (STOPPED.test(line)) this.#stopped.add(child);
    if (alarm !== undefined) this.alarms[alarm] = (this.alarms[alarm] ?? 0) + 1;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined || !isAlive(child)) return;
    this.#endedOnRequest.add(child);
    const gone = once(child, 'exit');
    // A process that is frozen gets no other signal.
    if (signal !== 'SIGKILL') child.kill('SIGCONT');
    child.kill(signal);
    const force = setTimeout(() => child.kill('SIGKILL'), END_MS);
    await gone;
    clearTimeout(force);
  }
}

function isAlive({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}
