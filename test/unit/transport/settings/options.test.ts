/** What a connection is set to: what holds where nothing was said, and what is refused, by the name of its field. */
import { describe, expect, test } from 'vitest';
import { jsonCodec } from '../../../../src/protocol/codec/json-codec.ts';
import { settle, type ConnectionOptions } from '../../../../src/transport/settings/options.ts';

class NoSocket {}

/** Options that are right, but for those given. */
const options = (given: Readonly<Record<string, unknown>> = {}): ConnectionOptions =>
  ({ url: 'ws://127.0.0.1:7070/irl', WebSocket: NoSocket, ...given }) as unknown as ConnectionOptions;

test('nothing said → the times and numbers of the docs, and the shorter codec', () => {
  const { connectTimeoutMs, heartbeatMs, pongTimeoutMs, inFlightMax, codec, principal } = settle(options());
  expect({ connectTimeoutMs, heartbeatMs, pongTimeoutMs, inFlightMax }).toEqual({
    connectTimeoutMs: 10_000,
    heartbeatMs: 15_000,
    pongTimeoutMs: 5000,
    inFlightMax: 16_384,
  });
  expect(codec).not.toBe(jsonCodec);
  expect(principal).toBeUndefined();
});

test('what was said → so', async () => {
  const given = { token: 'let me in', principal: 'ann', codec: 'json', heartbeatMs: 0.5, inFlightMax: 1 };
  const settings = settle(options(given));
  expect(await settings.credentials()).toEqual({ principal: 'ann', token: 'let me in' });
  expect(settings.principal?.()).toBe('ann');
  expect(settings.codec).toBe(jsonCodec);
  expect(settings).toMatchObject({ heartbeatMs: 0.5, inFlightMax: 1, tokenIsFixed: true });
});

describe('refused, by the field', () => {
  test.each<[field: string, given: unknown, explained: string]>([
    ['reconnect', {}, 'give a policy'],
    ['reconnect', null, 'give a policy'],
    ['WebSocket', 'ws', 'give a class'],
    ['codec', 'xml', "'msgpack' or 'json'"],
    ['heartbeatMs', 0, 'positive number, not 0'],
    ['connectTimeoutMs', -1, 'positive number, not -1'],
    ['pongTimeoutMs', Number.NaN, 'positive number, not NaN'],
    ['inFlightMax', '5', 'positive number, not 5'],
    ['principal', 5, 'must be a name'],
    ['url', [], 'give at least one'],
    ['url', undefined, 'give at least one'],
    ['url', { length: 1 }, 'give at least one'],
    ['url', 'http://127.0.0.1/irl', 'must begin with ws:// or wss://'],
    ['url', 'ws://ann@127.0.0.1/irl', 'must not carry credentials'],
    ['url', 'ws://:secret@127.0.0.1/irl', 'must not carry credentials'],
  ])('%s: %j', (field, given, explained) => {
    const refused = expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(explained) });
    expect(() => settle(options({ [field]: given }))).toThrow(refused);
    expect(() => settle(options({ [field]: given }))).toThrow(expect.objectContaining({ field }));
  });
});
