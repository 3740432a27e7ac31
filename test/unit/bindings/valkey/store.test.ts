/**
 * Which primary counts, for the process and for a session. The server is a socket that replies as a
 * test says.
 */
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { ReplicaCall } from '../../../../src/bindings/replicas/index.ts';
import type { ValkeyPosition } from '../../../../src/bindings/valkey/replication-position.ts';
import { ValkeyServer } from '../../../../src/bindings/valkey/connection.ts';
import { ValkeyStore } from '../../../../src/bindings/valkey/store.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { virtualClock } from '../../../../src/testing/index.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
/** The position of a session that has seen the promoted server. */
const AT_PROMOTED = { id: B, offset: 850, earlier: { id: A, before: 800 } };

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

const bulk = (text: string) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;

/** `id`: the stream of the server to which the name leads. */
async function open() {
  const route = { id: A, connections: 0, writes: 0 };
  const describe = () => {
    const [earlier, before] = route.id === B ? [A, 800] : ['0'.repeat(40), -1];
    return bulk(
      `role:master\r\nmaster_replid:${route.id}\r\nmaster_replid2:${earlier}\r\nmaster_repl_offset:900\r\nsecond_repl_offset:${before}\r\naof_enabled:0\r\nrun_id:r\r\n`,
    );
  };
  const server: Server = createServer((socket) => {
    route.connections += 1;
    let isQueued = false;
    const answer = (name: string): string => {
      if (name === 'MULTI') isQueued = true;
      if (name === 'EXEC') {
        isQueued = false;
        return `*2\r\n${describe()}${bulk('1')}`;
      }
      if (isQueued && name !== 'MULTI') return '+QUEUED\r\n';
      if (name === 'SET') route.writes += 1;
      return name === 'INFO' ? describe() : '+OK\r\n';
    };
    socket.on('error', () => {});
    socket.on('data', (data) => {
      for (const command of String(data).split(/(?=\*\d+\r\n\$)/))
        socket.write(answer(command.split('\r\n')[2]!.toUpperCase()));
    });
    endings.push(() => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const primary = new ValkeyServer({
    name: 'primary',
    address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    redisOptions: { protocol: 2 },
    waitTimeoutMs: 1_000,
  });
  const clock = virtualClock();
  const servers = new Map([['primary', primary]]);
  const store = new ValkeyStore(
    { servers, prefix: '', waitForReplicas: 0, waitTimeoutMs: 1_000 },
    clock,
  );
  const alarms: string[] = [];
  store.reportTo(({ code }) => alarms.push(code));
  endings.push(
    () => store.close(),
    () => server.close(),
  );
  const call = (after?: ValkeyPosition) =>
    ({ after, markSent() {}, markUnsent() {} }) as unknown as ReplicaCall;
  const read = (after?: ValkeyPosition) => store.read(get('k'), 'primary', call(after));
  const write = (after?: ValkeyPosition) => store.write(put('k', 1), call(after));
  return { alarms, clock, read, route, write };
}

const REFUSED = { code: 'UNAVAILABLE', retryable: true };

// @rule REPL-23
test('a session that has seen a promotion refuses the old primary for itself only', async () => {
  const { read, write, route, alarms } = await open();
  const advice = 'If the promotion was taken back, open a new session.';
  await expect(read(AT_PROMOTED)).rejects.toMatchObject({
    ...REFUSED,
    message: expect.stringContaining(advice),
  });
  await expect(write(AT_PROMOTED)).rejects.toMatchObject(REFUSED);
  expect(route.writes).toBe(0);
  expect(await read()).toMatchObject({
    value: 1,
    position: { id: A, isVolatile: true, runId: 'r' },
  });
  expect(await write()).toMatchObject({ position: { id: A } });
  expect(alarms).toEqual([]);
});

// @rule REPL-23
test('a session that refuses a server leaves the connections of others, and looks the name up again', async () => {
  const { read, route } = await open();
  await read();
  for (let at = 0; at < 3; at += 1) await expect(read(AT_PROMOTED)).rejects.toMatchObject(REFUSED);
  const inFlight = Promise.all([read(), read(AT_PROMOTED).catch(() => {}), read()]);
  expect(await inFlight).toMatchObject([{ value: 1 }, undefined, { value: 1 }]);
  route.id = B;
  await expect
    .poll(() =>
      read(AT_PROMOTED).then(
        ({ position }) => position?.id,
        () => 'refused',
      ),
    )
    .toBe(B);
});

// @rule REPL-23
test('a promotion that the process has seen and that is taken back ends after a minute, with an alarm', async () => {
  const { alarms, clock, read, route, write } = await open();
  route.id = B;
  await read();
  route.id = A;
  await expect(read()).rejects.toMatchObject(REFUSED);
  await clock.advance(40_000);
  route.id = B; // A name may lead here and there for a while.
  await read();
  route.id = A;
  await expect(write()).rejects.toMatchObject({ code: 'UNKNOWN' });
  await expect(read()).rejects.toMatchObject(REFUSED);
  await clock.advance(59_000);
  await expect(read()).rejects.toMatchObject(REFUSED);
  expect(alarms).toEqual([]);
  await clock.advance(1_000);
  expect(await read()).toMatchObject({ value: 1, position: { id: A } });
  expect(await write()).toMatchObject({ position: { id: A } });
  expect(alarms).toEqual(['lost-writes']);
});
