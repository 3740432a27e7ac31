import { expect, test, vi } from 'vitest';
import { getWebSocketClass } from '../../../../src/transport/options/websocket.ts';

test('`ws` is loaded in Node alone, and not with the condition of a browser, which comes first', async () => {
  const { default: manifest } = await import('../../../../package.json', {
    with: { type: 'json' },
  });
  expect(Object.keys(manifest.imports['#ws'])).toEqual(['browser', 'node', 'default']);
});

vi.mock('#ws', () => ({ WebSocket: undefined }));

test('fails with UNSUPPORTED and explains how to pass a class if the platform has no WebSocket', () => {
  vi.stubGlobal('WebSocket', undefined);
  const message = expect.stringContaining("from 'ws'") as string;
  expect(() => getWebSocketClass(undefined)).toThrow(
    expect.objectContaining({ code: 'UNSUPPORTED', message }) as Error,
  );
  vi.unstubAllGlobals();
});
