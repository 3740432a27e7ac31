/** Runs a program of this package as a user would, in a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const root: string = fileURLToPath(new URL('../..', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running program. Disposal kills it if it still runs. */
export class Program implements Disposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ended>;
  readonly #output = { stdout: '', stderr: '' };
  readonly #lines: AsyncIterator<string>;

  /**
   * Starts `node` with `args` in the package's folder, and `env` over this process's own. `within`
   * is a command that runs it.
   */
  constructor(
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
    within: readonly string[] = [],
  ) {
    // The test runner asks for colors. A program whose output is read shows none.
    const options = { cwd: root, env: { ...process.env, FORCE_COLOR: undefined, ...env } };
    const [command, ...words] = [...within, process.execPath, ...args] as [string, ...string[]];
    const child = spawn(command, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    const output = this.#output;
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text));
    }
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    this.#ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, ...output }));
    });
  }

  /** Returns the next line of stdout. */
  async line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error(`the program ended: ${(await this.#ended).stderr}`);
    return value;
  }

  /** The process that was started: the command of `within`, if there is one. */
  get pid(): number {
    return this.#child.pid as number;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Stops reading stdout and closes it. */
  leaveStdout(): void {
    this.#child.stdout?.destroy();
  }

  /** Resolves when the program has written `lines` lines to stderr. */
  async waitForStderr(lines: number): Promise<void> {
    while (this.#output.stderr.split('\n').length <= lines) await once(this.#child.stderr!, 'data');
  }

  ended(): Promise<Ended> {
    return this.#ended;
  }

  [Symbol.dispose](): void {
    if (this.#child.exitCode === null && this.#child.signalCode === null)
      this.#child.kill('SIGKILL');
  }
}

/** Runs a program to its end. */
export async function runProgram(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  using program = new Program(args, env);
  return await program.ended();
}
