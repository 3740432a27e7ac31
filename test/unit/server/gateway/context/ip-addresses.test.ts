import { expect, test } from 'vitest';
import {
  normalizeHost,
  toCountedAddress,
} from '../../../../../src/server/gateway/context/ip-addresses.ts';

test.each([
  ['::ffff:10.0.0.7', '10.0.0.7'],
  ['::FFFF:0a00:0007', '10.0.0.7'],
  ['[::1]', '::1'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['2001:DB8:0:0::7', '2001:db8::7'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
  ['127.1', '127.0.0.1'],
  ['Shop.Example.', 'shop.example'],
  ['not a host', 'not a host'],
])('writes %s as %s', (host, normalized) => {
  expect(normalizeHost(host)).toBe(normalized);
});

test.each([
  ['10.0.0.7', '::ffff:10.0.0.7', true],
  ['10.0.0.7', '10.0.0.8', false],
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
  ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ['::1', '::2', true],
  ['fe80::1%eth0', 'fe80::2%eth0', false],
])('counts %s and %s as one subscriber: %s', (item, other, isSame) => {
  expect(toCountedAddress(item) === toCountedAddress(other)).toBe(isSame);
});
