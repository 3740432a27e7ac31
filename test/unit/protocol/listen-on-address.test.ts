/** Listening on an address that this machine gets a little later. */
import { EventEmitter } from 'node:events';
import type { Server } from 'node:net';
import { beforeEach, expect, test, vi } from 'vitest';
import { listenOnAddress } from '../../../src/protocol/listen-on-address.ts';

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

/** A server that fails with these codes, one after the other, and then listens. */
class ScriptedServer extends EventEmitter {
  attempts = 0;
  readonly #codes: readonly string[];

  constructor(...codes: readonly string[]) {
    super();
    this.#codes = codes;
  }

  listen(_port: number, host: string): void {
    const code = this.#codes[this.attempts];
    this.attempts += 1;
    queueMicrotask(() => {
      if (code === undefined) this.emit('listening');
      else this.emit('error', Object.assign(new Error(`listen ${code} ${host}`), { code }));
    });
  }
}

function listen(server: ScriptedServer, messages: string[] = []): Promise<void> {
  const onWaiting = (message: string): void => void messages.push(message);
  const listening = listenOnAddress(server as unknown as Server, {
    host: 'shop',
    port: 1,
    onWaiting,
  });
  listening.catch(() => {});
  return listening;
}

test('waits for an address and a name that are not there yet, and reports once what it waits for', async () => {
  const server = new ScriptedServer('EAI_AGAIN', 'ENOTFOUND', 'EADDRNOTAVAIL');
  const messages: string[] = [];
  const listening = listen(server, messages);
  await vi.runAllTimersAsync();
  await listening;
  expect(server.attempts).toBe(4);
  expect(messages).toEqual([
    'cannot listen on shop: no name server answers yet (listen EAI_AGAIN shop). Waiting up to 30 s for it.',
  ]);
});

test('rejects with the error of the system once it has waited for 30 s', async () => {
  const server = new ScriptedServer(...Array.from({ length: 1000 }, () => 'EADDRNOTAVAIL'));
  const listening = listen(server);
  await vi.runAllTimersAsync();
  await expect(listening).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' });
  expect(server.attempts).toBe(61);
});

test.each([
  ['it listens in the end', 20],
  ['it gives up', 1000],
])('leaves no listener on the server, where %s', async (_end, failures) => {
  const server = new ScriptedServer(...Array.from({ length: failures }, () => 'ENOTFOUND'));
  const counts = new Set<number>();
  server.on('newListener', (event: string) => counts.add(server.listenerCount(event)));
  const listening = listen(server);
  await vi.runAllTimersAsync();
  await listening.catch(() => {});
  // Node warns of a leak from 11 on.
  expect(counts).toEqual(new Set([0]));
  expect(server.listenerCount('error') + server.listenerCount('listening')).toBe(0);
});

test('rejects at once if the port is taken', async () => {
  const server = new ScriptedServer('EADDRINUSE');
  await expect(listen(server)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect(server.attempts).toBe(1);
});
