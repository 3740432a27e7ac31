/**
 * Operations under way when the connection or the server goes: they survive, and updates are
 * executed once.
 */
import { WebSocket } from 'ws';
import { describe, expect, test } from 'vitest';
import { exponentialBackoff, remote, type RemoteBinding } from '../../src/bindings/remote/index.ts';
import { CutProxy } from '../support/cut-proxy.ts';
import {
  LEVELS,
  quietContext,
  SinkDouble,
  startGateway,
  writeX,
  type RunningGateway,
  type TestLevels,
} from '../support/wire.ts';

interface Line extends AsyncDisposable {
  readonly server: RunningGateway;
  readonly proxy: CutProxy;
  readonly store: RemoteBinding<TestLevels>;
}

/** A client, a proxy, a gateway. */
async function line(
  options: { heartbeatIntervalMs?: number; pongTimeoutMs?: number } = {},
): Promise<Line> {
  const server = await startGateway();
  const proxy = await CutProxy.start(server.url);
  const reconnect = exponentialBackoff({ initialDelayMs: 5, maxDelayMs: 20 });
  const store = remote({
    url: proxy.url(server.url),
    levels: LEVELS,
    WebSocket,
    reconnect,
    ...options,
  });
  return {
    server,
    proxy,
    store,
    async [Symbol.asyncDispose]() {
      await store.close();
      await proxy[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function submit(store: RemoteBinding<TestLevels>, operation = writeX): SinkDouble {
  const sink = new SinkDouble();
  store.submitOperation(operation, LEVELS, sink, quietContext());
  return sink;
}

describe('wire: connection sick', () => {
  test('half-open → noticed by the heartbeat, operations go on over a new connection', async () => {
    await using wire = await line({ heartbeatIntervalMs: 30, pongTimeoutMs: 30 });
    await wire.store.ready;
    const swallowed = wire.proxy.swallow();
    const sink = submit(wire.store);
    await swallowed;
    // Nothing was cut: only the missing pong can have made the client connect again.
    await wire.proxy.connected(2);
    wire.proxy.pass();
    (await wire.server.store.next()).sink.view('v', 'strong');
    expect(await sink.call(0)).toMatchObject({ value: 'v' });
  });
});
