/** The launcher's port: flag before variable before default, and bad ones refused by name. */
import { expect, test } from 'vitest';
import { explainPort } from '../../../demo/port-taken.ts';
import { parsePort } from '../../../demo/launcher/options.ts';
import { UsageError } from '../../../engines/usage-error.ts';

test('port: flag, else PORT, else the default', () => {
  expect(parsePort(['--port', '0'], { PORT: '81' })).toBe(0);
  expect(parsePort([], { PORT: '81' })).toBe(81);
  expect(parsePort([], {})).toBe(7400);
});

test.each([
  [['--port', '65536'], {}, '--port'],
  [['--port', '1.5'], {}, '--port'],
  [[], { PORT: 'http' }, 'PORT'],
  [['--prot', '1'], {}, 'prot'],
  [['tickets'], {}, 'tickets'],
])('port: %j with %j → refused, naming %s', (argv, environment, name) => {
  expect(() => parsePort(argv, environment)).toThrow(UsageError);
  expect(() => parsePort(argv, environment)).toThrow(name);
});

test('a port that cannot be had → what to change; another failure → as it is', () => {
  const taken = Object.assign(new Error('listen'), { code: 'EADDRINUSE' });
  expect(String(explainPort(taken, 7400, '--port N'))).toMatch(/port 7400 is taken.*--port N/);
  const other = new Error('other');
  expect(explainPort(other, 7400, '--port N')).toBe(other);
});
