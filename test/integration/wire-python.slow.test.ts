/**
 * A client in another language can be written from docs/reference/wire-protocol.md: this one is
 * Python without a library.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { memory } from '../../src/bindings/memory/index.ts';
import { createGateway } from '../../src/server/gateway/gateway.ts';
import { listenGateways } from '../../src/server/gateway/listen/listen.ts';

const script = new URL('../support/wire-client.py', import.meta.url).pathname;
const python = spawnSync('python3', ['--version']);
if (python.error !== undefined) {
  process.stderr.write(
    `wire-python: not run, there is no python3 here (${python.error.message})\n`,
  );
}

test.runIf(python.error === undefined)(
  'client in Python → greets, gets the views of a put and of a get, and a confirmation without payload',
  async () => {
    const store = memory({ delaysMs: { weak: 0, strong: 20 }, lagMs: 0 });
    const gateway = createGateway({ binding: store });
    const listener = await listenGateways({ sites: { here: gateway } });
    const { hostname, port, pathname } = new URL(listener.siteUrl('here'));
    const client = spawn('python3', [
      script,
      hostname,
      port,
      pathname,
      store.consistencyLevels().join(','),
    ]);
    const reported: string[] = [];
    client.stderr.on('data', (data: Buffer) => reported.push(data.toString()));
    try {
      const rows = createInterface({ input: client.stdout })[Symbol.asyncIterator]();
      const next = async (): Promise<unknown> => {
        const { value, done } = (await rows.next()) as IteratorResult<string, undefined>;
        if (done === true) throw new Error(`the client ended: ${reported.join('')}`);
        return JSON.parse(value) as unknown;
      };
      const ask = (...operation: readonly unknown[]): void => {
        client.stdin.write(`${JSON.stringify(operation)}\n`);
      };
      expect(await next()).toMatchObject([
        0,
        'welcome',
        { version: 6, levels: ['weak', 'strong'] },
      ]);

      ask('put', 'write', { key: 'greeting', value: 'grüße 👋' });
      expect(await next()).toEqual([1, 'view', 0, 0, { $undefined: true }]);
      expect(await next()).toEqual([1, 'confirm', 1, 0, 1]);

      ask('get', 'read', { key: 'greeting' });
      expect(await next()).toEqual([2, 'view', 0, 0, 'grüße 👋', 1]);
      expect(await next()).toEqual([2, 'confirm', 1, 0, 1]);

      ask('bogus', 'read', {});
      expect(((await next()) as unknown[]).slice(0, 3)).toEqual([3, 'fail', 'UNSUPPORTED']);
    } finally {
      client.kill();
      await listener.close({ drainMs: 0 });
      await store.close();
    }
  },
);
