/**
 * The delay proxy: bytes complete, in order and late; a target that is down is reported at once, or
 * waited for.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { openRoute } from '../../../engines/delay-proxy.ts';
import { freePorts, LOOPBACK } from '../../../engines/ports.ts';

async function listen(onConnection: (socket: Socket) => void, port = 0): Promise<Server> {
  const server = createServer(onConnection);
  await new Promise<void>((resolve) => server.listen(port, LOOPBACK, resolve));
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Sends bytes in parts and resolves with all that comes back. */
function roundTrip(port: number, parts: readonly Buffer[]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const got: Buffer[] = [];
    const socket = connect(port, LOOPBACK, () => {
      for (const part of parts) socket.write(part);
      socket.end();
    });
    socket.on('data', (bytes: Buffer) => got.push(bytes));
    socket.on('error', reject);
    socket.on('end', () => resolve(Buffer.concat(got)));
  });
}

const echo = (socket: Socket): void => void socket.pipe(socket);

test('proxy: bytes in many parts → the same bytes in order, a round trip later, ends included', async () => {
  const target = await listen(echo);
  const [listenPort] = (await freePorts(1)) as [number];
  const route = await openRoute({ listenPort, targetPort: portOf(target), oneWayMs: 20 });
  const parts = Array.from({ length: 50 }, (_, n) => Buffer.alloc(1000 + n, n));
  const from = performance.now();
  expect(await roundTrip(listenPort, parts)).toEqual(Buffer.concat(parts));
  expect(performance.now() - from).toBeGreaterThanOrEqual(39);
  route.close();
  target.close();
});

test('proxy: a target that is down → the connection is reset', async () => {
  const [listenPort, targetPort] = (await freePorts(2)) as [number, number];
  const route = await openRoute({ listenPort, targetPort, oneWayMs: 1 });
  await expect(roundTrip(listenPort, [Buffer.from('x')])).rejects.toMatchObject({
    code: 'ECONNRESET',
  });
  route.close();
});

test('proxy: patience, a target that comes up late → reached', async () => {
  const [listenPort, targetPort] = (await freePorts(2)) as [number, number];
  const route = await openRoute({ listenPort, targetPort, oneWayMs: 1, timeoutMs: 10_000 });
  const answer = roundTrip(listenPort, [Buffer.from('x')]);
  const target = await listen(echo, targetPort);
  expect(await answer).toEqual(Buffer.from('x'));
  route.close();
  target.close();
});
