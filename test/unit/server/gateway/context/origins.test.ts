import { describe, expect, test } from 'vitest';
import { createGateway } from '../../../../../src/server/gateway/gateway.ts';
import type { GatewayOptions } from '../../../../../src/server/gateway/gateway-options.ts';
import {
  isAllowedHost,
  isAllowedOrigin,
  isLoopbackHost,
} from '../../../../../src/server/gateway/context/origins.ts';
import { serve } from '../../../../../src/server/serve.ts';
import { StoreDouble } from '../../../../support/wire.ts';
import { bankService } from '../../site/services.ts';

describe('origins', () => {
  test.each([
    [undefined, 'localhost:1', true],
    ['http://localhost:7070', 'localhost:7070', true],
    ['http://[::1]:7070', '[::1]:7070', true],
    ['http://localhost:7071', 'localhost:7070', false],
    ['https://localhost:7070', 'localhost:7070', false],
    ['http://shop.example', 'shop.example', false],
    ['https://listed.example', 'shop.example', true],
    ['https://listed.example.evil', 'shop.example', false],
    ['null', 'localhost:7070', false],
    ['', '', false],
  ])('page of %s at %s → %s', (origin, host, allowed) => {
    expect(isAllowedOrigin(origin, host, ['https://listed.example'])).toBe(allowed);
  });

  test.each([
    ['localhost:80', '127.0.0.1', true],
    ['127.0.0.1', '127.0.0.1', true],
    ['[::1]:80', '::1', true],
    ['evil.example', '127.0.0.1', false],
    ['127.0.0.1.evil.example', '127.0.0.1', false],
    ['localhost.evil.example', 'localhost', false],
    [undefined, '127.0.0.1', false],
    ['shop.example', '0.0.0.0', true],
    ['[0:0:0:0:0:0:0:1]:80', '::1', true],
    ['[::ffff:7f00:1]:80', '::ffff:127.0.0.1', true],
    ['LOCALHOST.:80', '127.0.0.1', true],
    ['[::1].evil.example', '::1', false],
  ])('called %s while bound to %s → %s', (host, boundTo, allowed) => {
    expect(isAllowedHost(host, boundTo)).toBe(allowed);
  });

  test.each([
    ['127.8.9.1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['::ffff:127.0.0.1', true],
    ['::ffff:10.0.0.1', false],
    ['0:0:0:0:0:0:0:1', true],
    ['[::1]', true],
    ['2001:db8::1', false],
    ['10.0.0.1', false],
  ])('%s is loopback → %s', (host, loopback) => {
    expect(isLoopbackHost(host)).toBe(loopback);
  });
});

describe('origins of a gateway', () => {
  const gatewayOf = (origins: unknown) =>
    createGateway({ binding: new StoreDouble(), origins } as unknown as GatewayOptions);

  test.each([
    ['https://shop.example', 'a list, for example ["https://shop.example"]'],
    [null, 'a list'],
    [{ 0: 'https://shop.example', length: 1 }, 'a list'],
    [[5], 'not one of type number'],
    [[Symbol('x')], 'not one of type symbol'],
    [[], undefined],
    [['*'], 'not "*"'],
    [[''], 'not ""'],
    [['null'], 'not "null"'],
    [['shop.example'], 'not "shop.example"'],
    [['https://ok.example', 'https://shop.example/'], 'browsers say "https://shop.example"'],
    [['https://Shop.example:443'], 'browsers say "https://shop.example"'],
    [['https://*.shop.example'], 'name each of them'],
    [['https://shop.example', 'http://localhost:5173', 'app://shop'], undefined],
    [undefined, undefined],
  ])('%j → INVALID_ARGUMENT with the message: %s', async (origins, message) => {
    if (message === undefined) return expect(gatewayOf(origins).origins).toEqual(origins ?? []);
    const rejection = {
      code: 'INVALID_ARGUMENT',
      field: 'origins',
      message: expect.stringContaining(message) as string,
    };
    expect(() => gatewayOf(origins)).toThrow(expect.objectContaining(rejection) as Error);
    const served = serve({
      service: bankService(),
      sites: ['ireland'],
      origins: origins as string[],
    });
    return expect(served).rejects.toMatchObject(rejection);
  });

  test('the list that was given changes later → who may connect does not', () => {
    const origins = ['https://shop.example'];
    const gateway = gatewayOf(origins);
    origins.push('https://evil.example');
    expect(gateway.origins).toEqual(['https://shop.example']);
  });
});
