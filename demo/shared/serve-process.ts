/**
 * Runs `correctables serve` as a separate process, so that it can be killed, frozen and started
 * again.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The path of the built command. */
export const CLI: string = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The number of last lines of a server that are kept, enough to show why it has ended. */
const LINES_MAX = 5;
const STOP_MAX_MS = 10_000;

export interface ServeOptions {
  /** The arguments after `correctables serve`. */
  readonly args: readonly string[];
  /**
   * Whether it has its own process group, so that Ctrl-C in the terminal reaches only the demo,
   * which ends its servers.
   */
  readonly detached?: boolean;
  /** Called with each line of its log. */
  readonly onLog: (line: string) => void;
}

/** A running server. */
export class ServeProcess {
  /**
   * The websocket address of each of its sites, once it listens after its recovery. Rejects if it
   * ends before.
   */
  readonly listening: Promise<Readonly<Record<string, string>>>;
  /** Resolves when it has ended, with a signal, or with an exit code and its last lines. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  #hasEnded = false;

  constructor({ args, detached = false, onLog }: ServeOptions) {
    const command = [CLI, 'serve', ...args, '--log-level', 'warn', '--json'];
    // `PORT` is the port of this program's page, and the server would listen on it too.
    const { PORT: _, ...env } = process.env;
    const child = spawn(process.execPath, command, {
      detached,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    const lines: string[] = [];
    createInterface({ input: child.stderr }).on('line', (line) => {
      onLog(line);
      lines.push(line);
      if (lines.length > LINES_MAX) lines.shift();
    });
    this.ended = once(child, 'close').then(
      ([code, signal]) => {
        this.#hasEnded = true;
        return String(signal ?? [`exit code ${String(code)}`, ...lines].join('\n'));
      },
      (error: unknown) => String(error),
    );
    const early = this.ended.then((how) => {
      throw new Error(`the server ended before it listened: ${how}`);
    });
    const first = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
    this.listening = Promise.race([first, early]).then(
      ([line]) => (JSON.parse(line) as { readonly sites: Record<string, string> }).sites,
    );
    // Prevent an unhandled rejection: a caller need not await these promises.
    this.listening.catch(() => {});
  }

  /** Undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** `kill -9`: it has no chance to write anything. */
  kill(): Promise<string> {
    return this.#end('SIGKILL');
  }

  /** Stops the process (SIGSTOP). Its sockets stay open. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  unfreeze(): void {
    this.#child.kill('SIGCONT');
  }

  /** Ends it as an operator does, and by force if that takes too long. */
  async stop(): Promise<string> {
    this.unfreeze();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MAX_MS);
    const how = await this.#end('SIGTERM');
    clearTimeout(timer);
    return how;
  }

  #end(signal: NodeJS.Signals): Promise<string> {
    if (!this.#hasEnded) this.#child.kill(signal);
    return this.ended;
  }
}
