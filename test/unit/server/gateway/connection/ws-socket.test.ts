/** Messages that a server frames itself, beside those of `ws`. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { WsSocket } from '../../../../../src/server/gateway/connection/socket.ts';

test('messages of each length arrive whole, of their kind and in order, questions between them', async () => {
  const sizes = [0, 1, 125, 126, 1024, 1025, 65_536];
  const sent = sizes.flatMap((size) => [new Uint8Array(size).fill(size % 251), 'é'.repeat(size)]);
  const http = createServer();
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  http.on('upgrade', (request, stream, head) => {
    sockets.handleUpgrade(request, stream, head, (websocket) => {
      const socket = new WsSocket(websocket, stream);
      for (const data of sent) {
        socket.send(data);
        socket.ping('alive');
      }
    });
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}/`);
  onTestFinished(() => {
    client.terminate();
    http.close();
  });
  const received: (string | Uint8Array)[] = [];
  await new Promise<void>((resolve) => {
    client.on('message', (data: Buffer, isBinary) => {
      received.push(isBinary ? new Uint8Array(data) : data.toString());
      if (received.length === sent.length) resolve();
    });
  });
  expect(received).toEqual(sent);
});
