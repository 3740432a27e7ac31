/** A process of `correctables serve` that can be killed, frozen and started again. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

const PRELOAD = fileURLToPath(new URL('faults/preload.mjs', import.meta.url));
const START_MS = 60_000;
const END_MS = 20_000;

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
}

/** How a start went: it listens, or it ended before. */
export type StartResult = { readonly isListening: true } | { readonly isListening: false; readonly reason: string };

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
  #isWanted = false;

  constructor(options: ProcessOptions) {
    this.name = options.name;
    this.#options = options;
    this.setConditions(NORMAL);
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Starts it with further arguments. Resolves when it listens, or has ended. */
  async start(...more: readonly string[]): Promise<StartResult> {
    const { cli, args, conditionsFile } = this.#options;
    const env = { ...process.env, CHAOS_CONDITIONS: conditionsFile };
    const command = ['--import', pathToFileURL(PRELOAD).href, cli, 'serve', ...args, ...more];
    const child = spawn(process.execPath, command, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    this.#isWanted = true;
    const lines: string[] = [];
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      this.#takeLine(line);
    });
    const ended = once(child, 'exit').then(([code, signal]) => String(code ?? signal));
    let isListening = false;
    void ended.then((how) => {
      if (!this.#isWanted || this.#child !== child || !isListening) return;
      this.complaints.push(`${this.name} ended by itself (${how}): ${lines.slice(-3).join(' | ')}`);
    });
    const listening = once(createInterface({ input: child.stdout }), 'line', { signal: AbortSignal.timeout(START_MS) });
    const result = await Promise.race([
      listening.then(() => ({ isListening: true }) as const),
      ended.then((how) => ({ isListening: false, reason: `ended (${how}): ${lines.slice(-3).join(' | ')}` }) as const),
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

  /** Whether it ends by itself within `withinMs`, and what it wrote last. */
  async endsItself(withinMs: number): Promise<string | undefined> {
    this.#isWanted = false;
    const child = this.#child;
    if (child === undefined || !this.isRunning) return this.#lines.slice(-3).join(' | ');
    const end = once(child, 'exit', { signal: AbortSignal.timeout(withinMs) });
    try {
      await end;
      return this.#lines.slice(-3).join(' | ');
    } catch {
      this.#isWanted = true;
      return undefined;
    }
  }

  /** Takes effect within a fraction of a second. */
  setConditions(conditions: Conditions): void {
    writeFileSync(this.#options.conditionsFile, JSON.stringify(conditions));
  }

  #takeLine(line: string): void {
    this.#lines = [...this.#lines.slice(-50), line];
    const alarm = /"alarm":"([^"]+)"/.exec(line)?.[1];
    if (alarm !== undefined) this.alarms[alarm] = (this.alarms[alarm] ?? 0) + 1;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#isWanted = false;
    if (child === undefined || !this.isRunning) return;
    const gone = once(child, 'exit');
    // A process that is frozen gets no other signal.
    if (signal !== 'SIGKILL') child.kill('SIGCONT');
    child.kill(signal);
    const force = setTimeout(() => child.kill('SIGKILL'), END_MS);
    await gone;
    clearTimeout(force);
  }
}
