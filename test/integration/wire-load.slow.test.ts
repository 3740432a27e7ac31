/** Many at once: operations on one connection, connections at one gateway. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { expect, test } from 'vitest';
import { remote } from '../../src/bindings/remote/index.ts';
import { msgpackCodec } from '../../src/protocol/codec/msgpack-codec.ts';
import {
  LEVELS,
  quietContext,
  RawClient,
  SinkDouble,
  startGateway,
  writeX,
} from '../support/wire.ts';

test('load: 10,000 operations in flight on one connection → each gets its own two views', async () => {
  const COUNT = 10_000;
  await using server = await startGateway();
  const store = remote({ url: server.url, levels: LEVELS, WebSocket });
  await store.ready;
  const sinks = Array.from({ length: COUNT }, (_, n) => {
    const sink = new SinkDouble();
    store.submitOperation({ ...writeX, args: n }, LEVELS, sink, quietContext());
    return sink;
  });
  for (let n = 0; n < COUNT; n++) await server.store.next();
  expect(server.gateway.status()).toMatchObject({ inFlight: COUNT, overloaded: 0 });
  for (const { sink } of server.store.submitted) sink.view('guess', 'weak');
  await sinks.at(-1)?.call(0);

  for (const { operation, sink } of server.store.submitted) sink.view(operation.args, 'strong');
  const answers = await Promise.all(sinks.map((sink) => sink.call(1)));
  expect(answers.map((call) => call.kind === 'write' && call.value)).toEqual(
    sinks.map((_, n) => n),
  );
  expect(server.store.submitted).toHaveLength(COUNT);
  await store.close();
});

test('load: 2,000 connections → each is served, and all are gone after the close', async () => {
  const COUNT = 2_000;
  await using server = await startGateway();
  server.store.answer = ({ operation, sink }) => sink.view(operation.args, 'strong');
  const sockets = await Promise.all(Array.from({ length: COUNT }, () => greeted(server.url)));
  expect(server.gateway.status().connections).toBe(COUNT);
  const answers = await Promise.all(
    sockets.map(async (socket, n) => {
      const answered = once(socket, 'message');
      socket.send(
        msgpackCodec.frame([msgpackCodec.encodeMessage([1, 'submit', 'get', 'read', 2, n])]),
      );
      const [frame] = (await answered) as [Buffer<ArrayBuffer>];
      return msgpackCodec.decode(frame)[0];
    }),
  );
  expect(answers).toEqual(sockets.map((_, n) => [1, 'view', 1, 0, n]));
  const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
  await server.gateway.close({ drainMs: 0 });
  await closed;
  expect(server.gateway.status()).toMatchObject({ connections: 0, inFlight: 0 });
});

/** A websocket that the gateway has welcomed. */
async function greeted(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url, [msgpackCodec.subprotocol]);
  await once(socket, 'open');
  const welcomed = once(socket, 'message');
  const client = crypto.randomUUID();
  socket.send(
    msgpackCodec.frame([
      msgpackCodec.encodeMessage([0, 'hello', { ...RawClient.hello(), client }]),
    ]),
  );
  await welcomed;
  return socket;
}
