/** Which errors of the system are about the place where the server listens. */
import { expect, test } from 'vitest';
import { throwListenError } from '../../../src/cli/listen-errors.ts';

const PLACE = { host: '127.0.0.1', port: 80 };

function createSystemError(code: string, syscall: string, more: object = {}): Error {
  return Object.assign(new Error(`${code}: ${syscall}`), { code, syscall, ...more });
}

test.each([
  ['EACCES', 'listen', {}, '--port is 80, where this user may not listen'],
  ['EADDRINUSE', 'listen', { port: 443 }, '--port is 443, where another program listens'],
  [
    'EADDRNOTAVAIL',
    'listen',
    { address: '10.0.0.1' },
    '--host is 10.0.0.1, which is no address of this machine',
  ],
  [
    'ENOTFOUND',
    'getaddrinfo',
    { hostname: 'shop' },
    '--host is shop, which is no address, and no name of one',
  ],
])('%s of %s is explained by a flag', (code, syscall, more, message) => {
  expect(() => throwListenError(createSystemError(code, syscall, more), PLACE)).toThrow(message);
});

test.each([
  ['EACCES', 'open'],
  ['EINVAL', 'fsync'],
])('%s of %s is not about listening: its message names the file', (code, syscall) => {
  expect(() => throwListenError(createSystemError(code, syscall), PLACE)).not.toThrow();
});
