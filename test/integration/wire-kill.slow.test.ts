/** A server process that is killed between a preliminary and its final, and started again. */
import { spawn, type ChildProcess } from 'node:child_process';
import { WebSocket } from 'ws';
import { expect, test } from 'vitest';
import { exponentialBackoff, remote } from '../../src/bindings/remote/index.ts';
import { createClient } from '../../src/index.ts';
import { put } from '../../src/operations/index.ts';
import { built } from '../support/programs.ts';
import { LEVELS } from '../support/wire.ts';

const PROGRAM = await built('test/support/gateway-process.ts');

class ServerProcess implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(port: string, finals: 'yes' | 'no'): Promise<ServerProcess> {
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    const child = spawn(process.execPath, [PROGRAM, port, finals], { stdio: [...stdio] });
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.once('data', (line: Buffer) => resolve(line.toString().trim()));
      child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it listened`)));
    });
    return new ServerProcess(child, url);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await gone;
  }
}

test('server killed after the preliminary, started again → the same Correctable gets its final', async () => {
  await using first = await ServerProcess.start('0', 'no');
  const reconnect = exponentialBackoff({ initialDelayMs: 20, maxDelayMs: 100 });
  await using store = createClient(remote({ url: first.url, levels: LEVELS, WebSocket, reconnect }));
  const seen: unknown[] = [];
  const operation = store.invoke(put('k', 'v'));
  const preliminary = new Promise((resolve) => {
    operation.onUpdate(resolve);
  });
  operation.subscribe((view) => seen.push([view.level, view.value]));
  expect(await preliminary).toBe(`guess of ${first.pid}`);
  await first[Symbol.asyncDispose]();
  await using second = await ServerProcess.start(new URL(first.url).port, 'yes');
  expect(await operation).toBe(`final of ${second.pid}`);
  expect(seen).toEqual([
    ['weak', `guess of ${first.pid}`],
    ['strong', `final of ${second.pid}`],
  ]);
});
