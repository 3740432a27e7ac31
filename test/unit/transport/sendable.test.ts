/** What is sent fits what a server accepts: its limits, and the form of its rows. */
import { describe, expect, test } from 'vitest';
import { isSimpleSubmit } from '../../../src/protocol/messages/message-check.ts';
import { quietContext, readX, writeX } from '../../support/wire.ts';
import { start, startOpen, submit, welcome } from './set-up.ts';

describe('what a server would take for malformed', () => {
  test.each([
    ['name', { ...readX, name: '' }],
    ['name', { ...readX, name: 'x'.repeat(1025) }],
    ['access', { ...readX, access: 'update' as never }],
    ['key', { ...readX, key: 5 as never }],
  ])('%s → fails alone with INVALID_ARGUMENT, nothing is sent', async (field, operation) => {
    const { platform, connection } = await startOpen();
    const sink = submit(connection, operation);
    platform.tick();
    expect(sink.calls).toMatchObject([{ error: { code: 'INVALID_ARGUMENT', field } }]);
    expect(platform.socket.rows('submit')).toEqual([]);
  });

  test.each([1e16, Number.MAX_VALUE, Infinity])(
    'time limit of %d ms → sent as none',
    async (limitMs) => {
      const { platform, connection } = await startOpen();
      submit(connection, readX, quietContext({ deadlineAt: platform.now() + limitMs }));
      platform.tick();
      const [row] = platform.socket.rows('submit');
      expect(isSimpleSubmit(row)).toBe(true);
      expect(row?.[7] ?? null).toBeNull();
    },
  );
});

describe('a server that takes so many operations at a time', () => {
  test('more wait → sent as answers come, in order, acknowledged in between', async () => {
    const { platform, connection } = start();
    const sinks = Array.from({ length: 250 }, () => submit(connection, writeX));
    await welcome(platform, { limits: { maxFrameBytes: 1 << 20, maxInFlight: 100 } });
    const ids = (): unknown[] => platform.socket.rows('submit').map(([id]) => id);
    expect(ids()).toHaveLength(100);
    for (let id = 1; id <= 250; id++) {
      expect(ids()).toContain(id);
      platform.socket.receive([id, 'view', 1, 0, id]);
      platform.tick();
      expect(ids().length - id).toBeLessThanOrEqual(100);
    }
    expect(ids()).toEqual(Array.from({ length: 250 }, (_, n) => n + 1));
    expect(sinks.every(({ calls }) => calls.length === 1)).toBe(true);
    expect(platform.socket.rows('ack').length).toBeGreaterThan(1);
  });

  test('submitted while others wait → after those', async () => {
    const { platform, connection } = await startOpen();
    const ids = (): unknown[] => platform.socket.rows('submit').map(([id]) => id);
    for (let n = 0; n < 101; n++) submit(connection, writeX);
    platform.tick();
    platform.socket.receive([1, 'view', 1, 0, 'v']);
    submit(connection, writeX);
    platform.tick();
    expect(ids().slice(100)).toEqual([101]);
    platform.socket.receive([2, 'view', 1, 0, 'v']);
    platform.tick();
    expect(ids().slice(100)).toEqual([101, 102]);
  });
});
