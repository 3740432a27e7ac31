/** The command that people run, `correctables serve`, in a process of its own that can be killed, frozen, ended and begun. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../../engines/ports.ts';
import { SITES, type Site } from '../../../engines/wan.ts';

const CLI = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const SERVICE = fileURLToPath(new URL('service.ts', import.meta.url));
/** Long enough for a start on a busy machine; a longer start is a fault. */
const START_MS = 60_000;

export class Server {
  readonly port: number;
  /** The lines of its error output, and how it ended without being stopped. */
  readonly complaints: string[] = [];
  readonly #folder: string;
  #child: ChildProcess | undefined;
  #isWanted = false;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.port = port;
  }

  static async start(folder: string): Promise<Server> {
    const [port] = (await freePorts(1)) as [number];
    const server = new Server(folder, port);
    await server.begin();
    return server;
  }

  /** Where a site is found, under an address of another host and port where given. */
  url(site: Site, address = `127.0.0.1:${this.port}`): string {
    return `ws://${address}/${site}`;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Begins on what is in the folder; done when it listens, so after recovery. */
  async begin(): Promise<void> {
    const serve = [CLI, 'serve', '--service', SERVICE, '--sites', SITES.join(','), '--latency', 'eu-us'];
    const where = ['--data', this.#folder, '--port', String(this.port), '--log-level', 'error', '--json'];
    const child = spawn(process.execPath, [...serve, ...where], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    this.#isWanted = true;
    child.on('exit', (code, signal) => {
      if (this.#isWanted && this.#child === child) this.complaints.push(`the server ended with ${code ?? signal}`);
    });
    createInterface({ input: child.stderr }).on('line', (line) => this.complaints.push(line));
    const listening = once(createInterface({ input: child.stdout }), 'line', { signal: AbortSignal.timeout(START_MS) });
    const ended = once(child, 'exit').then(([code, signal]) => {
      throw new Error(
        `the server ended with ${String(code ?? signal)} before it listened: ${this.complaints.join('; ')}`,
      );
    });
    await Promise.race([listening, ended]);
    ended.catch(() => {});
  }

  /** `kill -9`: it gets no chance to write anything down. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** As an operator ends it. */
  async end(): Promise<void> {
    await this.#end('SIGTERM');
  }

  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  goOn(): void {
    this.#child?.kill('SIGCONT');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#isWanted = false;
    if (child === undefined || !this.isRunning) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }
}
