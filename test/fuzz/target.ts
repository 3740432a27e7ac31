/** An attacked process, as its parent sees it: its output, its resources, and how it died. */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FromTarget } from './messages.ts';

const STDERR_KEPT = 4_000;

/** How a process ended that should not have. */
interface Death {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stderr: string;
}

export class Target implements AsyncDisposable {
  readonly urls: Readonly<Record<string, string>>;
  death: Death | undefined;
  readonly died: Promise<Death>;
  readonly #child: ChildProcess;
  #waiting: ((message: FromTarget & { kind: 'measured' }) => void)[] = [];

  private constructor(
    child: ChildProcess,
    urls: Readonly<Record<string, string>>,
    died: Promise<Death>,
  ) {
    this.#child = child;
    this.urls = urls;
    this.died = died;
    void died.then((death) => (this.death = death));
    child.on('message', (message: FromTarget) => {
      if (message.kind === 'measured')
        for (const resolve of this.#waiting.splice(0)) resolve(message);
    });
  }

  static async start(): Promise<Target> {
    const program = fileURLToPath(new URL('gateway-target.ts', import.meta.url));
    const child = fork(program, [], {
      execArgv: ['--expose-gc', '--import', 'tsx'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let stderr = '';
    child.stderr
      ?.setEncoding('utf8')
      .on('data', (text: string) => (stderr = (stderr + text).slice(-STDERR_KEPT)));
    const died = new Promise<Death>((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal, stderr }));
    });
    const urls = await new Promise<Readonly<Record<string, string>>>((resolve, reject) => {
      child.once(
        'message',
        (message: FromTarget) => message.kind === 'ready' && resolve(message.urls),
      );
      void died.then(() => reject(new Error(`the gateways did not start: ${stderr}`)));
    });
    return new Target(child, urls, died);
  }

  /** What the process holds now; `undefined` if it is dead. */
  async measure(): Promise<(FromTarget & { kind: 'measured' }) | undefined> {
    const measured = new Promise<FromTarget & { kind: 'measured' }>((resolve) =>
      this.#waiting.push(resolve),
    );
    if (this.#child.connected) this.#child.send('measure', () => {});
    return Promise.race([measured, this.died.then(() => undefined)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.died;
  }
}
