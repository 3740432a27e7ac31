import { expect, test, vi } from 'vitest';
import { getWebSocketClass } from '../../../../src/transport/options/websocket.ts';

vi.mock('#ws', () => ({ WebSocket: undefined }));

test('fails with UNSUPPORTED and explains how to pass a class if the platform has no WebSocket', () => {
  vi.stubGlobal('WebSocket', undefined);
  const message = expect.stringContaining("from 'ws'") as string;
  expect(() => getWebSocketClass(undefined)).toThrow(
    expect.objectContaining({ code: 'UNSUPPORTED', message }) as Error,
  );
  vi.unstubAllGlobals();
});
