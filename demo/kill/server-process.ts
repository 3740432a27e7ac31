/** The server in a process of its own, so that it can be killed and started again. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SITES } from './sites.ts';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const SERVICE = fileURLToPath(new URL('service.ts', import.meta.url));

/** A running server. */
export class ServerProcess {
  /** The websocket address of each site. */
  readonly sites: Readonly<Record<string, string>>;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, sites: Readonly<Record<string, string>>) {
    this.#child = child;
    this.sites = sites;
  }

  /** Starts `correctables serve` on a data folder; done when it listens, so after recovery. */
  static async start({ data, port }: { readonly data: string; readonly port: number }): Promise<ServerProcess> {
    const serve = [CLI, 'serve', '--service', SERVICE, '--sites', SITES.join(','), '--data', data];
    const args = [...serve, '--port', String(port), '--log-level', 'warn', '--json'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout });
    const listening = once(lines, 'line') as Promise<[string]>;
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the server ended with ${String(code)} before it listened`);
    });
    const [line] = await Promise.race([listening, ended]);
    ended.catch(() => {});
    const { sites } = JSON.parse(line) as { readonly sites: Record<string, string> };
    return new ServerProcess(child, sites);
  }

  get port(): number {
    return Number(new URL(Object.values(this.sites)[0] as string).port);
  }

  /** `kill -9`: it gets no chance to write anything down. */
  async kill(): Promise<void> {
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }

  async stop(): Promise<void> {
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await gone;
  }
}
