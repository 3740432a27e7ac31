import { describe, expect, test } from 'vitest';
import { isAllowedHost, isAllowedOrigin, isLoopbackHost } from '../../../src/server/gateway/origins.ts';

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
  ])('called %s while bound to %s → %s', (host, boundTo, allowed) => {
    expect(isAllowedHost(host, boundTo)).toBe(allowed);
  });

  test.each([
    ['127.8.9.1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['10.0.0.1', false],
  ])('%s is loopback → %s', (host, loopback) => {
    expect(isLoopbackHost(host)).toBe(loopback);
  });
});
