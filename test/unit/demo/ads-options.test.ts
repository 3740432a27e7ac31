/** The command line of the speculation demos: defaults as documented, and bad input refused with the flag's name. */
import { expect, test } from 'vitest';
import { parseOptions, type Program } from '../../../demo/shared/options.ts';
import { UsageError } from '../../../engines/usage-error.ts';

const PROGRAM: Program = { command: 'demo:ads', about: 'Serves ads', scale: 0.02, port: 7410 };

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

test.each([
  ['--way', '4'],
  ['--coordinator', 'mars'],
  ['--read-quorum', '1'],
])('options: cassandra with %s=%s → refused by name', (flag, value) => {
  const argv = ['--headless', '--binding', 'cassandra', `${flag}=${value}`];
  expect(() => parseOptions(argv, PROGRAM)).toThrow(UsageError);
  expect(() => parseOptions(argv, PROGRAM)).toThrow(flag);
});

test.each([['--way=3'], ['--coordinator=frankfurt'], ['--read-quorum=2']])(
  'options: %s without cassandra → refused',
  (flag) => {
    expect(() => parseOptions([flag], PROGRAM)).toThrow('is for --binding cassandra');
  },
);

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
