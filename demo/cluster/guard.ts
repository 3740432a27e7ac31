/**
 * Starts the guard: a process that ends the nodes of a demo if the demo itself ends without doing
 * so, for example by `kill -9`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('guard.mjs', import.meta.url));

export class Guard {
  readonly #child: ChildProcess;

  /** @param directory removed when the demo has ended. Default: none */
  constructor(directory?: string) {
    const args = [SCRIPT, ...(directory === undefined ? [] : [directory])];
    // Start it in its own process group, so that Ctrl-C does not end it before the nodes.
    this.#child = spawn(process.execPath, args, {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    // If the guard itself was killed, the demo continues without it.
    this.#child.on('error', () => {});
    this.#child.stdin?.on('error', () => {});
  }

  add(pid: number): void {
    this.#child.stdin?.write(`+ ${pid}\n`);
  }

  remove(pid: number): void {
    this.#child.stdin?.write(`- ${pid}\n`);
  }

  /** Waits until it has killed what is left and removed the directory. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'close');
    this.#child.stdin?.end();
    await ended;
  }
}
