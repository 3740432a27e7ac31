/** A connection that is not read from, since far too much waits for its client, is closed meanwhile. */
import { expect, test } from 'vitest';
import { createGateway } from '../../src/server/gateway/gateway.ts';
import { RawClient, StoreDouble } from '../support/wire.ts';
import { SocketByHand } from '../unit/server/gateway/listen/socket-by-hand.ts';

test('wire: closed while it is not read from → read from again, or the answer to its close would never come', async () => {
  const store = new StoreDouble();
  store.answer = ({ sink }) => sink.update('x'.repeat(5_000), 'strong');
  const gateway = createGateway({ binding: store, limits: { sendBufferBytesMax: 1_000 } });
  const enter = async (attempt: number): Promise<SocketByHand> => {
    const socket = new SocketByHand();
    gateway.accept(socket, { remoteAddress: undefined, origin: undefined });
    socket.events.received(JSON.stringify([[0, 'hello', { ...RawClient.hello(), attempt }]]));
    await new Promise(setImmediate);
    return socket;
  };
  const socket = await enter(1);
  socket.events.received(
    JSON.stringify([
      [1, 'submit', 'get', 'read', 2, null],
      [2, 'ping'],
    ]),
  );
  expect(socket.calls).toEqual(['pause']);
  await enter(2);
  expect(socket.calls).toEqual(['pause', 'close 4409', 'resume']);
});
