/**
 * Platforms that lack what browsers have, as React Native does: a fallback, or an error with the
 * fix.
 */
import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../../src/correctable/clock.ts';
import { findSites } from '../../../../src/transport/find-sites.ts';
import { resolveConnectionOptions } from '../../../../src/transport/options/options.ts';
import { createPlatformScheduling } from '../../../../src/transport/options/scheduling.ts';
import { copyPlainData } from '../../../../src/values/deep-copy.ts';

afterEach(() => void vi.unstubAllGlobals());

class Socket {}
const codecWith = (codec?: 'msgpack' | 'json') =>
  resolveConnectionOptions({ url: 'ws://a/b', WebSocket: Socket as never, ...(codec && { codec }) })
    .codec.subprotocol;

test.each([
  ['performance.timeOrigin', { now: () => 5 }],
  ['performance', undefined],
])('no %s → the time passes all the same', (_, performance) => {
  vi.stubGlobal('performance', performance);
  for (const now of [systemClock.now(), createPlatformScheduling().now()])
    expect(now).toBeGreaterThan(0);
});

test('no MessageChannel → what waits for the end of a tick runs after it', async () => {
  vi.stubGlobal('setImmediate', undefined);
  vi.stubGlobal('MessageChannel', undefined);
  const reported: string[] = [];
  await new Promise<void>((resolve) => {
    createPlatformScheduling().afterTick(() => resolve(void reported.push('after')));
    void Promise.resolve().then(() => reported.push('before'));
  });
  expect(reported).toEqual(['before', 'after']);
});

test('no URL.canParse → addresses are parsed, and what is none is named', async () => {
  vi.stubGlobal('URL', Object.assign(class extends URL {}, { canParse: undefined }));
  expect(codecWith()).toContain('msgpack');
  expect(() => resolveConnectionOptions({ url: 'x', WebSocket: Socket as never })).toThrow(
    'x is no URL',
  );
  await expect(findSites('x')).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    field: 'directory',
  });
});

test.each([
  ['TextDecoder', undefined],
  ['TextEncoder', undefined],
  ['TextEncoder', class {}],
  [
    'TextDecoder',
    class {
      constructor(_label: string, options?: { fatal?: boolean }) {
        if (options?.fatal === true) throw new RangeError('fatal is not supported');
      }
    },
  ],
])(
  '%s missing or without what MessagePack needs → JSON, and an error if you ask for MessagePack',
  (name, value) => {
    vi.stubGlobal(name, value);
    expect(codecWith()).toContain('json');
    expect(() => codecWith('msgpack')).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'codec' }),
    );
  },
);

test.each([undefined, {}])('no crypto.getRandomValues → the error names what to load', (crypto) => {
  vi.stubGlobal('crypto', crypto);
  expect(() => codecWith()).toThrow(
    expect.objectContaining({ code: 'UNSUPPORTED', field: 'crypto' }),
  );
});

test('no Blob, File or structuredClone → values are copied', () => {
  for (const name of ['Blob', 'File', 'structuredClone']) vi.stubGlobal(name, undefined);
  expect(copyPlainData({ a: [new Date(1)] }).value).toEqual({ a: [new Date(1)] });
  class Odd {}
  expect(() => copyPlainData(new Odd())).toThrow('an instance of Odd');
});
