/**
 * Runs `correctables serve` on a data folder in a process of its own. A test can pause or kill it,
 * or limit its open files.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { WebSocket } from 'ws';
import { createClient, type Client } from 'correctables';
import { redblue, type RedBlueLevels } from 'correctables/bindings/redblue';
import { durableContract } from './durable-service.ts';
import { built } from './programs.ts';
import { root } from './run-program.ts';

interface Laid {
  readonly url: string;
  readonly sites: Readonly<Record<string, string>>;
}

export class DurableServer implements AsyncDisposable {
  readonly laid: Laid;
  readonly #child: ChildProcess;
  readonly #clients: Client<RedBlueLevels>[] = [];

  private constructor(child: ChildProcess, overlaid: Laid) {
    this.#child = child;
    this.laid = overlaid;
  }

  /**
   * Starts a server. Rejects with its stderr if it ends instead. `within` is a command that runs
   * the server.
   */
  static async start(
    dataDir: string,
    { within = [], sites = 'a', logPath }: StartOptions = {},
  ): Promise<DurableServer> {
    const service = await built('test/support/durable-service.ts');
    const serve = ['dist/cli/main.js', 'serve', '--service', service, '--sites', sites];
    const args = [
      ...within,
      process.execPath,
      ...serve,
      '--data',
      dataDir,
      '--port',
      '0',
      '--json',
    ];
    const log = logPath === undefined ? 'pipe' : openSync(logPath, 'a');
    const child = spawn(args[0] as string, args.slice(1), {
      cwd: root,
      stdio: ['ignore', 'pipe', log],
    });
    if (typeof log === 'number') closeSync(log);
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const lines = createInterface({ input: child.stdout as Readable });
    const { value, done } = await lines[Symbol.asyncIterator]().next();
    if (done === true) throw new Error(stderr);
    return new DurableServer(child, JSON.parse(value) as Laid);
  }

  client(site = 'a'): Client<RedBlueLevels> {
    const url = this.laid.sites[site] as string;
    const client = createClient(redblue(durableContract, { url, WebSocket }), {
      timeoutMs: 10_000,
    });
    this.#clients.push(client);
    return client;
  }

  async status(path: string): Promise<number> {
    return (await fetch(`${this.laid.url}/${path}`)).status;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await Promise.all(this.#clients.splice(0).map((client) => client.close()));
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.kill(signal);
    await ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGCONT');
    return this.end('SIGKILL');
  }
}

interface StartOptions {
  readonly within?: readonly string[];
  readonly sites?: string;
  /**
   * The file to which stderr is written. Without it, stderr is kept for the error of a start that
   * fails.
   */
  readonly logPath?: string;
}
