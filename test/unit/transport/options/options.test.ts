/**
 * The options of a connection: the defaults, and the rejected values, by the name of their field.
 */
import { describe, expect, test } from 'vitest';
import { jsonCodec } from '../../../../src/protocol/codec/json-codec.ts';
import {
  resolveConnectionOptions,
  type ConnectionOptions,
} from '../../../../src/transport/options/options.ts';

class NoSocket {}

/** Options that are right, but for those given. */
const options = (value: Readonly<Record<string, unknown>> = {}): ConnectionOptions =>
  ({
    url: 'ws://127.0.0.1:7070/ireland',
    WebSocket: NoSocket,
    ...value,
  }) as unknown as ConnectionOptions;

test('no options → the times and numbers of the docs, and the shorter codec', () => {
  const { connectTimeoutMs, heartbeatIntervalMs, pongTimeoutMs, maxInFlight, codec, principal } =
    resolveConnectionOptions(options());
  expect({ connectTimeoutMs, heartbeatIntervalMs, pongTimeoutMs, maxInFlight }).toEqual({
    connectTimeoutMs: 10_000,
    heartbeatIntervalMs: 15_000,
    pongTimeoutMs: 5000,
    maxInFlight: 16_384,
  });
  expect(codec).not.toBe(jsonCodec);
  expect(principal).toBeUndefined();
});

test('options → used as they are', async () => {
  const value = {
    token: 'let me in',
    principal: 'ann',
    codec: 'json',
    heartbeatIntervalMs: 0.5,
    maxInFlight: 1,
  };
  const settings = resolveConnectionOptions(options(value));
  expect(await settings.credentials()).toEqual({ principal: 'ann', token: 'let me in' });
  expect(settings.principal?.()).toBe('ann');
  expect(settings.codec).toBe(jsonCodec);
  expect(settings).toMatchObject({ heartbeatIntervalMs: 0.5, maxInFlight: 1 });
});

describe('refused, by the field', () => {
  test.each<[field: string, given: unknown, explained: string]>([
    ['reconnect', {}, 'must have delayMs, as neverReconnect has'],
    ['reconnect', null, 'must have delayMs'],
    ['WebSocket', 'ws', 'give a class'],
    ['codec', 'xml', "'msgpack' or 'json'"],
    ['heartbeatIntervalMs', 0, 'must be a number above 0, or Infinity for no limit, got 0'],
    ['connectTimeoutMs', -1, 'above 0, or Infinity for no limit, got -1'],
    ['pongTimeoutMs', Number.NaN, 'got NaN'],
    ['maxInFlight', '5', 'must be an integer from 1 on, or Infinity for no limit, got "5"'],
    ['principal', 5, 'must be a name'],
    ['url', [], 'give at least one'],
    ['url', undefined, 'give at least one'],
    ['url', { length: 1 }, 'give at least one'],
    ['url', 'http://127.0.0.1/ireland', 'must begin with ws:// or wss://'],
    ['url', 'ws://ann@127.0.0.1/ireland', 'must not carry credentials'],
    ['url', 'ws://:secret@127.0.0.1/ireland', 'must not carry credentials'],
    ['url', 'ws://127.0.0.1/ireland#top', 'must not have a fragment'],
  ])('%s: %j', (field, value, explained) => {
    const refused = expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(explained),
    });
    expect(() => resolveConnectionOptions(options({ [field]: value }))).toThrow(refused);
    expect(() => resolveConnectionOptions(options({ [field]: value }))).toThrow(
      expect.objectContaining({ field }),
    );
  });
});
