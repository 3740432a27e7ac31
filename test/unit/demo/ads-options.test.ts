/**
 * The command line of the speculation demos: defaults as documented, and bad input refused with the
 * flag's name.
 */
import { expect, test } from 'vitest';
import { parseOptions, type Program } from '../../../demo/shared/options.ts';
import { UsageError } from '../../../engines/usage-error.ts';

const PROGRAM: Program = {
  command: 'demo:ads',
  about: 'Serves ads',
  scale: 0.02,
  port: 7410,
  bindings: ['redblue', 'cassandra'],
};

test('options: none given → the documented defaults', () => {
  expect(parseOptions([], PROGRAM)).toEqual({
    headless: false,
    json: false,
    binding: 'redblue',
    cassandra: undefined,
    scale: 0.02,
    seconds: 10,
    workload: 'B',
    workers: 4,
    client: 'frankfurt',
    wan: 'paper',
    seed: 1,
    history: undefined,
    port: 7410,
  });
});

test('options: cassandra with --way=4 → refused by name', () => {
  const argv = ['--headless', '--binding', 'cassandra', '--way=4'];
  expect(() => parseOptions(argv, PROGRAM)).toThrow(UsageError);
  expect(() => parseOptions(argv, PROGRAM)).toThrow('--way');
});

test('options: --way=3 without cassandra → refused', () => {
  expect(() => parseOptions(['--way=3'], PROGRAM)).toThrow('--way is for --binding cassandra');
});

test('options: cassandra without --headless → there is no page for it', () => {
  expect(() => parseOptions(['--binding', 'cassandra'], PROGRAM)).toThrow('add --headless');
});

test.each([
  ['--scale', '0'],
  ['--scale', '2'],
  ['--seconds', 'soon'],
  ['--workload', 'D'],
  ['--workers', '1.5'],
  ['--client', 'mars'],
  ['--latency', 'moon'],
  ['--binding', 'floppy'],
  ['--port', '70000'],
  ['--sceonds', '20'],
])('options: %s=%s → refused by name', (flag, value) => {
  expect(() => parseOptions([`${flag}=${value}`], PROGRAM)).toThrow(UsageError);
  expect(() => parseOptions([`${flag}=${value}`], PROGRAM)).toThrow(flag);
});
