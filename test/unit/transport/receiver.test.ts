/** Rows that a server may not send: a few are borne. */
import { expect, test } from 'vitest';
import { PROTOCOL_VERSION } from '../../../src/protocol/codec/version.ts';
import { LEVELS } from '../../support/wire.ts';
import { LIMITS, startOpen, submit } from './set-up.ts';

test('welcomed again and again → given up at the eighth time, as a server that speaks nonsense', async () => {
  const { platform, connection } = await startOpen();
  const again = [
    0,
    'welcome',
    { version: PROTOCOL_VERSION, levels: LEVELS, memoryId: 'm', limits: LIMITS },
  ];
  const sink = submit(connection);
  for (let times = 1; times < 8; times++) platform.socket.receive(again);
  // It is about no operation.
  expect([connection.state, sink.calls]).toEqual(['open', []]);
  platform.socket.receive(again);
  expect(connection.state).toBe('closed');
});
