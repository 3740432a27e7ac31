/**
 * Operations that are submitted again: what their rows say of before, and what becomes of those
 * that cannot be sent.
 */
import { describe, expect, test } from 'vitest';
import { readX, writeX } from '../../support/wire.ts';
import type { FakePlatform } from './fake-platform.ts';
import { start, startOpen, submit, welcome } from './set-up.ts';

/** The connection is lost; a server with `more` to its welcome is next. */
async function come(platform: FakePlatform, more: object = {}): Promise<void> {
  platform.socket.lose();
  platform.advance(10_000);
  await welcome(platform, more);
}

describe('too large', () => {
  test('fits no more once it has moved → fails alone with UNKNOWN, since it was sent; the rest goes on', async () => {
    const { platform, connection } = start();
    await welcome(platform, {
      site: 'ireland-west-1',
      limits: { maxFrameBytes: 300, maxInFlight: 9 },
    });
    const large = submit(connection, { ...writeX, args: 'x'.repeat(240) });
    const small = submit(connection, writeX);
    platform.tick();
    expect(platform.socket.rows('submit')).toHaveLength(2);
    await come(platform, { site: 'frankfurt', limits: { maxFrameBytes: 300, maxInFlight: 9 } });
    expect(await large.failure(0)).toMatchObject({ code: 'UNKNOWN', retryable: false });
    expect(small.calls).toEqual([]);
    expect(platform.socket.rows('submit').map(([id]) => id)).toEqual([2]);
  });

  test('read that another server cannot take → INVALID_ARGUMENT', async () => {
    const { platform, connection } = await startOpen();
    const sink = submit(connection, { ...readX, args: 'x'.repeat(240) });
    platform.tick();
    await come(platform, { limits: { maxFrameBytes: 200, maxInFlight: 9 } });
    expect(await sink.failure(0)).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'args' });
  });
});

describe('acknowledgement', () => {
  test('a read is in flight for ever → writes are acknowledged all the same', async () => {
    const { platform, connection } = await startOpen();
    submit(connection, readX);
    for (let id = 2; id <= 66; id++) {
      submit(connection, writeX);
      platform.tick();
      platform.socket.receive([id, 'view', 1, 0, null]);
    }
    expect(platform.socket.rows('ack')).toEqual([[63, 'ack']]);
  });

  test('a write is in flight → what came after it is not', async () => {
    const { platform, connection } = await startOpen();
    for (let id = 1; id <= 66; id++) {
      submit(connection, writeX);
      platform.tick();
      if (id !== 10) platform.socket.receive([id, 'view', 1, 0, null]);
    }
    expect(platform.socket.rows('ack')).toEqual([[9, 'ack']]);
    platform.socket.receive([10, 'view', 1, 0, null]);
    await come(platform);
    expect(platform.socket.rows('ack')).toEqual([[66, 'ack']]);
  });

  test('nothing but reads → nothing to acknowledge', async () => {
    const { platform, connection } = await startOpen({ heartbeatIntervalMs: 1_000 });
    for (let id = 1; id <= 100; id++) {
      submit(connection, readX);
      platform.tick();
      platform.socket.receive([id, 'view', 1, 0, null]);
    }
    platform.advance(1_000);
    expect(platform.socket.rows('ack')).toEqual([]);
  });
});
