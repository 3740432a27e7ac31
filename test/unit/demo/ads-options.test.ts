/** The command line of the speculation demos: defaults as documented, and bad input refused with the flag's name. */
import { expect, test } from 'vitest';
import { parseOptions, type Program } from '../../../demo/shared/options.ts';
import { UsageError } from '../../../demo/usage-error.ts';

const PROGRAM: Program = { command: 'demo:ads', about: 'Serves ads', scale: 0.02, port: 7410 };

test('options: none given → the documented defaults', () => {
  expect(parseOptions([], PROGRAM)).toEqual({
    headless: false,
    json: false,
    binding: 'redblue',
    scale: 0.02,
    seconds: 10,
    workload: 'B',
    workers: 4,
    client: 'frk',
    wan: 'paper',
    seed: 1,
    history: undefined,
    port: 7410,
  });
});

test('options: given → taken', () => {
  const argv = '--headless --json --scale 1 --seconds 2.5 --workload A --client vrg --wan none --history h.jsonl';
  expect(parseOptions(argv.split(' '), PROGRAM)).toMatchObject({
    headless: true,
    json: true,
    scale: 1,
    seconds: 2.5,
    workload: 'A',
    client: 'vrg',
    wan: 'none',
    history: 'h.jsonl',
  });
});

test.each([
  ['--scale', '0'],
  ['--scale', '2'],
  ['--seconds', 'soon'],
  ['--workload', 'D'],
  ['--workers', '1.5'],
  ['--client', 'mars'],
  ['--wan', 'moon'],
  ['--binding', 'floppy'],
  ['--port', '70000'],
  ['--sceonds', '20'],
])('options: %s=%s → refused by name', (flag, value) => {
  expect(() => parseOptions([`${flag}=${value}`], PROGRAM)).toThrow(UsageError);
  expect(() => parseOptions([`${flag}=${value}`], PROGRAM)).toThrow(flag);
});
