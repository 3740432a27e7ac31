/** Operations under way when the connection or the server goes: they survive, and updates are executed once. */
import { WebSocket } from 'ws';
import { describe, expect, test } from 'vitest';
import { exponentialBackoff, remote, type RemoteBinding } from '../../src/bindings/remote/index.ts';
import { CutProxy } from '../support/cut-proxy.ts';
import {
  LEVELS,
  quietContext,
  readX,
  SinkDouble,
  startGateway,
  StoreDouble,
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
async function line(options: { heartbeatMs?: number; pongTimeoutMs?: number } = {}): Promise<Line> {
  const server = await startGateway();
  const proxy = await CutProxy.start(server.url);
  const reconnect = exponentialBackoff({ firstMs: 5, maxMs: 20 });
  const store = remote({ url: proxy.url(server.url), levels: LEVELS, WebSocket, reconnect, ...options });
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

describe('wire: connection cut', () => {
  test('between preliminary and final of an update → executed once, final in full on the new connection', async () => {
    await using wire = await line();
    const sink = submit(wire.store);
    const { sink: given } = await wire.server.store.next();
    given.update('same', 'weak');
    await sink.call(0);
    wire.proxy.cut();
    await wire.proxy.connected(2);
    await wire.store.ready;
    // The repetition brings the preliminary again; only then is the new connection known to serve this operation.
    expect(await sink.call(1)).toMatchObject({ kind: 'update', value: 'same', level: 'weak' });
    given.update('same', 'strong');
    expect(await sink.call(2)).toMatchObject({ kind: 'update', value: 'same', level: 'strong' });
    expect(wire.server.store.submitted).toHaveLength(1);
  });

  test('after the final was sent, before it arrived → the recorded reply, no second execution', async () => {
    await using wire = await line();
    const sink = submit(wire.store);
    const { sink: given } = await wire.server.store.next();
    const swallowed = wire.proxy.swallow();
    given.update('done', 'strong');
    await swallowed;
    expect(sink.calls).toEqual([]);
    wire.proxy.pass();
    wire.proxy.cut();
    expect(await sink.call(0)).toMatchObject({ value: 'done', level: 'strong' });
    expect(wire.server.store.submitted).toHaveLength(1);
  });

  test('failure that was never heard → the recorded failure, no second execution', async () => {
    await using wire = await line();
    const sink = submit(wire.store);
    const { sink: given } = await wire.server.store.next();
    const swallowed = wire.proxy.swallow();
    given.fail(new Error('disk full'));
    await swallowed;
    wire.proxy.pass();
    wire.proxy.cut();
    expect(await sink.failure(0)).toMatchObject({ code: 'FINAL_FAILED' });
    expect(wire.server.store.submitted).toHaveLength(1);
  });

  test('under way of a read → asked again, the first one is stopped', async () => {
    await using wire = await line();
    const sink = submit(wire.store, readX);
    const first = await wire.server.store.next();
    const { signal } = first.context;
    const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve));
    wire.proxy.cut();
    const second = await wire.server.store.next();
    await stopped;
    first.sink.update('stale', 'strong');
    second.sink.update('fresh', 'strong');
    expect(await sink.call(0)).toMatchObject({ value: 'fresh' });
    expect(sink.calls).toHaveLength(1);
  });

  test('under way of an update → it is not stopped', async () => {
    await using wire = await line();
    submit(wire.store);
    const { context } = await wire.server.store.next();
    wire.proxy.cut();
    await wire.proxy.connected(2);
    const sink = submit(wire.store, readX);
    (await wire.server.store.next()).sink.update('v', 'strong');
    await sink.call(0);
    expect(context.signal.aborted).toBe(false);
  });

  test('cut again and again → every update is executed once and answered', async () => {
    await using wire = await line();
    wire.server.store.answer = ({ operation, sink }) => sink.update(operation.args, 'strong');
    const sinks: SinkDouble[] = [];
    for (let i = 0; i < 200; i++) {
      sinks.push(submit(wire.store, { ...writeX, args: i }));
      if (i % 20 !== 19) continue;
      // Some of these are answered, some on their way, some not yet sent.
      await new Promise(setImmediate);
      wire.proxy.cut();
    }
    const answers = await Promise.all(sinks.map((sink) => sink.call(0)));
    expect(answers.map((call) => call.kind === 'update' && call.value)).toEqual(sinks.map((_, i) => i));
    const executed = wire.server.store.submitted.map(({ operation }) => operation.args);
    expect(executed.toSorted((a, b) => Number(a) - Number(b))).toEqual(sinks.map((_, i) => i));
  });
});

describe('wire: connection sick', () => {
  test('half-open → noticed by the heartbeat, operations go on over a new connection', async () => {
    await using wire = await line({ heartbeatMs: 30, pongTimeoutMs: 30 });
    await wire.store.ready;
    const swallowed = wire.proxy.swallow();
    const sink = submit(wire.store);
    await swallowed;
    // Nothing was cut: only the missing pong can have made the client connect again.
    await wire.proxy.connected(2);
    wire.proxy.pass();
    (await wire.server.store.next()).sink.update('v', 'strong');
    expect(await sink.call(0)).toMatchObject({ value: 'v' });
  });

  test('stall that ends before the heartbeat gives up → answered over the same connection, nothing is submitted twice', async () => {
    // Much longer than the stall can last: that the answer comes over the first connection is the point.
    await using wire = await line({ heartbeatMs: 30_000, pongTimeoutMs: 30_000 });
    await wire.store.ready;
    const held = wire.proxy.hold();
    const sinks = Array.from({ length: 50 }, () => submit(wire.store));
    await held;
    wire.proxy.release();
    for (let n = 0; n < sinks.length; n++) (await wire.server.store.next()).sink.update(n, 'strong');
    expect(await Promise.all(sinks.map((sink) => sink.call(0)))).toHaveLength(50);
    expect(wire.proxy.connections).toBe(1);
    expect(wire.server.store.submitted).toHaveLength(50);
  });

  test('stall beyond the heartbeat → over a new connection; what the stalled one still delivers is executed once', async () => {
    await using wire = await line({ heartbeatMs: 30, pongTimeoutMs: 30 });
    await wire.store.ready;
    const held = wire.proxy.hold();
    const sink = submit(wire.store);
    await held;
    await wire.proxy.connected(2);
    wire.proxy.release();
    (await wire.server.store.next()).sink.update('v', 'strong');
    expect(await sink.call(0)).toMatchObject({ value: 'v' });
    const after = submit(wire.store);
    (await wire.server.store.next()).sink.update('w', 'strong');
    expect(await after.call(0)).toMatchObject({ value: 'w' });
    expect(wire.server.store.submitted).toHaveLength(2);
  });

  test('bytes arrive one by one → read all the same', async () => {
    await using wire = await line();
    wire.proxy.crumble();
    const sink = submit(wire.store);
    (await wire.server.store.next()).sink.update({ text: 'grüße 🎫' }, 'strong');
    expect(await sink.call(0)).toMatchObject({ value: { text: 'grüße 🎫' } });
  });
});

/** A store that executes each name once, whoever asks: what was under way elsewhere may be asked of it again. */
function onceStore(): StoreDouble {
  return Object.assign(new StoreDouble(), { executesOnce: true });
}

describe('wire: server restarted', () => {
  test('between preliminary and final → submitted to the new server under the same operation id', async () => {
    const first = await startGateway();
    const proxy = await CutProxy.start(first.url);
    const reconnect = exponentialBackoff({ firstMs: 5, maxMs: 20 });
    const store = remote({ url: proxy.url(first.url), levels: LEVELS, WebSocket, reconnect });
    const sink = submit(store);
    const before = await first.store.next();
    before.sink.update('guess', 'weak');
    await sink.call(0);
    // What a crash leaves behind: nobody listens on the port, nothing was said.
    proxy.cut();
    await first[Symbol.asyncDispose]();
    await using second = await startGateway({ store: onceStore() });
    proxy.retarget(second.url);
    const after = await second.store.next();
    expect(after.context.operationId).toBe(before.context.operationId);
    after.sink.update('guess', 'weak');
    after.sink.update('final', 'strong');
    expect(await sink.call(2)).toMatchObject({ value: 'final', level: 'strong' });
    await store.close();
    await proxy[Symbol.asyncDispose]();
  });

  test('client closes while the server is away → operations fail with UNAVAILABLE', async () => {
    const server = await startGateway();
    const store = remote({ url: server.url, levels: LEVELS, WebSocket });
    await store.ready;
    await server[Symbol.asyncDispose]();
    const sink = submit(store);
    await store.close();
    expect(await sink.failure(0)).toMatchObject({ code: 'UNAVAILABLE' });
  });
});
