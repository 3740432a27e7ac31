/** The connection's shell, with sockets and time driven by hand. */
import { describe, expect, test } from 'vitest';
import { PROTOCOL_VERSION } from '../../../src/protocol/codec/version.ts';
import { neverReconnect } from '../../../src/correctable/backoff.ts';
import { LEVELS, quietContext, readX, SUBPROTOCOL_JSON, writeX } from '../../support/wire.ts';
import { settled, type FakePlatform } from './fake-platform.ts';
import { LIMITS, reconnect, start, startOpen, submit, welcome } from './set-up.ts';

describe('connection: handshake', () => {
  test('the socket opens → sends hello with version, levels, client and token; ready on welcome', async () => {
    const { platform, connection } = start({ token: () => Promise.resolve('secret') });
    expect(platform.socket.protocols).toEqual([SUBPROTOCOL_JSON]);
    await welcome(platform);
    const client = expect.stringMatching(/^[0-9a-f]{32}$/) as string;
    const hello = {
      version: PROTOCOL_VERSION,
      client,
      attempt: 1,
      levels: [...LEVELS],
      token: 'secret',
    };
    expect(platform.socket.sent[0]).toEqual([0, 'hello', hello]);
    await expect(connection.ready).resolves.toBeUndefined();
  });

  test('other levels in the welcome → PROTOCOL, no operation sent, no further attempt', async () => {
    const { platform, connection } = start();
    const sink = submit(connection);
    platform.socket.open();
    await settled();
    platform.socket.receive([
      0,
      'welcome',
      { version: PROTOCOL_VERSION, levels: ['one'], memoryId: 'm', limits: LIMITS },
    ]);
    expect(await sink.failure(0)).toMatchObject({ code: 'PROTOCOL' });
    platform.advance(60_000);
    expect(platform.sockets).toHaveLength(1);
    expect(platform.socket.rows('submit')).toEqual([]);
  });

  test('server silent → another attempt after the connect timeout', async () => {
    const { platform } = start({ connectTimeoutMs: 1_000 });
    platform.socket.open();
    await settled();
    platform.advance(1_000);
    expect(platform.socket.closedByClient).toBe(true);
    platform.advance(100);
    expect(platform.sockets).toHaveLength(2);
  });
});

describe('connection: operations', () => {
  test('submitted in one tick → one frame', async () => {
    const { platform, connection } = await startOpen();
    submit(connection);
    submit(connection, writeX);
    expect(platform.socket.rows('submit')).toEqual([]);
    platform.tick();
    expect(platform.socket.rows('submit')).toEqual([
      [1, 'submit', 'get', 'read', 3, { key: 'x' }],
      [2, 'submit', 'put', 'write', 3, { key: 'x', value: 1 }],
    ]);
  });

  test('deadline after the machine’s clock was set → the time left by that clock', async () => {
    const { platform, connection } = await startOpen();
    const wallNow = (): number => platform.now() + 3_600_000;
    Object.assign(platform, { wallNow });
    submit(connection, readX, quietContext({ deadlineAt: wallNow() + 250 }));
    platform.tick();
    expect(platform.socket.rows('submit')[0]?.[7]).toBe(250);
  });

  test('arguments outside the value domain → INVALID_VALUE naming the field, nothing sent', async () => {
    const { platform, connection } = await startOpen();
    const sink = submit(connection, { ...readX, args: { keys: ['a', new Map()] } });
    expect(await sink.failure(0)).toMatchObject({ code: 'INVALID_VALUE', field: 'args.keys.1' });
    platform.tick();
    expect(platform.socket.rows('submit')).toEqual([]);
  });

  test('larger than the server reads → INVALID_ARGUMENT, the others go on', async () => {
    const { platform, connection } = start();
    await welcome(platform, { limits: { maxFrameBytes: 200, maxInFlight: 9 } });
    const large = submit(connection, { ...readX, args: 'x'.repeat(200) });
    submit(connection);
    platform.tick();
    expect(await large.failure(0)).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'args' });
    expect(platform.socket.rows('submit')).toHaveLength(1);
  });

  test('server sends nothing but nonsense → given up with PROTOCOL', async () => {
    const { platform, connection } = await startOpen();
    for (let i = 0; i < 8; i++) platform.socket.receiveText('{');
    expect(connection.state).toBe('closed');
    expect(await submit(connection).failure(0)).toMatchObject({ code: 'PROTOCOL' });
  });

  test('cancelled while in flight → cancel is sent, later views are ignored', async () => {
    const { platform, connection } = await startOpen();
    const controller = new AbortController();
    const sink = submit(connection, readX, quietContext({ signal: controller.signal }));
    platform.tick();
    platform.advance(20);
    controller.abort();
    platform.tick();
    expect(platform.socket.rows('cancel')).toEqual([[1, 'cancel']]);
    platform.socket.receive([1, 'view', 1, 0, 'value']);
    expect(sink.calls).toEqual([]);
  });

  test('cancelled write, connection lost → not submitted again: it must not take effect later', async () => {
    const { platform, connection } = await startOpen();
    const controller = new AbortController();
    const sink = submit(connection, writeX, quietContext({ signal: controller.signal }));
    controller.abort();
    platform.tick();
    platform.advance(20);
    await reconnect(platform);
    expect(platform.socket.rows('submit')).toEqual([]);
    expect(sink.calls).toEqual([]);
  });

  test('cancelled write while there is no connection, sent before → not submitted again, acknowledged', async () => {
    const { platform, connection } = await startOpen({ heartbeatIntervalMs: 1_000 });
    const controller = new AbortController();
    submit(connection, writeX, quietContext({ signal: controller.signal }));
    platform.tick();
    platform.advance(20);
    platform.socket.lose();
    controller.abort();
    platform.advance(100);
    await welcome(platform);
    platform.advance(2_000);
    expect(platform.socket.rows('submit')).toEqual([]);
    expect(platform.socket.rows('ack')).toEqual([[1, 'ack']]);
  });

  test('cancelled write that the server has → forgotten, and does not hold up the acknowledgement', async () => {
    const { platform, connection } = await startOpen({ heartbeatIntervalMs: 1_000 });
    const controller = new AbortController();
    const sink = submit(connection, writeX, quietContext({ signal: controller.signal }));
    platform.tick();
    controller.abort();
    platform.advance(20);
    platform.socket.receive([1, 'fail', 'ABORTED', 'runs on']);
    platform.advance(2_000);
    expect(platform.socket.rows('ack')).toEqual([[1, 'ack']]);
    expect(sink.calls).toEqual([]);
  });
});

describe('connection: loss and return', () => {
  test('lost in flight → submitted again under the same id; what was answered is not', async () => {
    const { platform, connection } = await startOpen();
    const done = submit(connection, writeX);
    const open = submit(connection, writeX);
    platform.tick();
    platform.socket.receive([1, 'view', 1, 0, 'done'], [2, 'view', 0, 0, 'guess']);
    await done.call(0);
    platform.socket.lose();
    expect(connection.state).toBe('waiting');
    platform.advance(100);
    await welcome(platform);
    expect(platform.socket.rows('hello')[0]?.[2]).toMatchObject({ attempt: 2 });
    expect(platform.socket.rows('submit').map(([id]) => id)).toEqual([2]);
    expect(platform.socket.rows('ack')).toEqual([[1, 'ack']]);
    platform.socket.receive([2, 'view', 0, 0, 'guess'], [2, 'confirm', 1, 0]);
    expect(open.calls.map(({ kind }) => kind)).toEqual(['write', 'write', 'confirm']);
    expect(open.calls[2]).toMatchObject({ level: 'strong', seq: 1 });
  });

  test('acknowledged on the lost connection → acknowledged again, since it may not have arrived', async () => {
    const { platform, connection } = await startOpen({ heartbeatIntervalMs: 1_000 });
    submit(connection, writeX);
    platform.tick();
    platform.socket.receive([1, 'view', 1, 0, 'done']);
    platform.advance(2_000);
    expect(platform.socket.rows('ack')).toEqual([[1, 'ack']]);
    await reconnect(platform);
    expect(platform.socket.rows('ack')).toEqual([[1, 'ack']]);
  });

  test.each(['OVERLOADED', 'UNSUPPORTED', 'INVALID_ARGUMENT', 'FORBIDDEN'])(
    'repetition of a write refused with %s by a server with another memory → UNKNOWN: the first may have been executed',
    async (code) => {
      const { platform, connection } = await startOpen();
      const update = submit(connection, writeX);
      const read = submit(connection, readX);
      platform.tick();
      await reconnect(platform, { memoryId: 'another' });
      platform.socket.receive([1, 'fail', code, 'no'], [2, 'fail', code, 'no']);
      expect(await update.failure(0)).toMatchObject({ code: 'UNKNOWN', retryable: false });
      expect(await read.failure(0)).toMatchObject({ code });
    },
  );

  test('repetition of a write refused by a server that has remembered the client ever since → it was not executed', async () => {
    const { platform, connection } = await startOpen();
    const update = submit(connection, writeX);
    platform.tick();
    await reconnect(platform);
    platform.socket.receive([1, 'fail', 'OVERLOADED', 'busy']);
    expect(await update.failure(0)).toMatchObject({ code: 'OVERLOADED', retryable: true });
  });

  test('policy gives up → operations fail with UNAVAILABLE, and new ones too', async () => {
    const { platform, connection } = await startOpen({ reconnect: neverReconnect });
    const sink = submit(connection);
    platform.socket.lose();
    expect(await sink.failure(0)).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
    expect(await submit(connection).failure(0)).toMatchObject({ code: 'UNAVAILABLE' });
    expect(connection.state).toBe('closed');
  });

  test.each([
    [4401, 'UNAUTHENTICATED'],
    [4403, 'FORBIDDEN'],
    [4404, 'PROTOCOL'],
    [4406, 'PROTOCOL'],
    [4400, 'PROTOCOL'],
  ])('closed with %i → %s, for good', async (code, expected) => {
    const { platform, connection } = await startOpen();
    const sink = submit(connection);
    platform.socket.lose(code, 'rejected');
    expect(await sink.failure(0)).toMatchObject({ code: expected });
    platform.advance(60_000);
    expect(platform.sockets).toHaveLength(1);
  });
});

describe('connection: heartbeat', () => {
  test('ping of the server → answered with its number', async () => {
    const { platform } = await startOpen();
    platform.socket.receive([42, 'ping']);
    platform.tick();
    expect(platform.socket.rows('pong')).toEqual([[42, 'pong']]);
  });
});

describe('connection: end', () => {
  test('write that was sent, but not answered → UNKNOWN, not to be repeated blindly; one not sent → UNAVAILABLE', async () => {
    const { platform, connection } = await startOpen();
    const sent = submit(connection, writeX);
    platform.tick();
    platform.socket.lose();
    const unsent = submit(connection, writeX);
    await connection.close();
    expect(await sent.failure(0)).toMatchObject({
      code: 'UNKNOWN',
      retryable: false,
      cause: { code: 'UNAVAILABLE' },
    });
    expect(await unsent.failure(0)).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  });

  test('closed twice, and after the end → both are fulfilled', async () => {
    const { platform, connection } = start();
    await Promise.all([connection.close(), connection.close()]);
    await connection.close();
    expect(platform.timers).toBe(0);
    await expect(connection.ready).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('connection: options', () => {
  test('platform refuses the socket → UNSUPPORTED, not thrown', async () => {
    class Refusing {
      constructor() {
        throw new Error('mixed content');
      }
    }
    const { connection } = start({ WebSocket: Refusing as unknown as FakePlatform['WebSocket'] });
    expect(await submit(connection).failure(0)).toMatchObject({ code: 'UNSUPPORTED' });
  });
});
