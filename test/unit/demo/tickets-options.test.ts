/** The shop's command line: defaults as documented, and bad input refused with the flag's name. */
import { expect, test } from 'vitest';
import { parseOptions } from '../../../demo/tickets/options.ts';
import { UsageError } from '../../../demo/usage-error.ts';

test('options: none given → the documented defaults', () => {
  expect(parseOptions([])).toEqual({
    headless: false,
    json: false,
    binding: 'redblue',
    retailers: 4,
    tickets: 500,
    threshold: 20,
    client: 'frk',
    wan: 'paper',
    history: undefined,
    port: 7400,
  });
});

test('options: given → taken', () => {
  const argv = '--headless --json --retailers 2 --tickets 60 --threshold 0 --client vrg --wan none --history h.jsonl';
  expect(parseOptions(argv.split(' '))).toMatchObject({
    headless: true,
    retailers: 2,
    tickets: 60,
    threshold: 0,
    client: 'vrg',
    wan: 'none',
    history: 'h.jsonl',
  });
});

test.each([
  ['--retailers', '0'],
  ['--tickets', '1.5'],
  ['--tickets', 'many'],
  ['--threshold', '-1'],
  ['--client', 'mars'],
  ['--wan', 'moon'],
  ['--binding', 'floppy'],
  ['--binding', 'zookeeper'],
  ['--port', '70000'],
  ['--tresshold', '20'],
])('options: %s=%s → refused by name', (flag, value) => {
  expect(() => parseOptions([`${flag}=${value}`])).toThrow(UsageError);
  expect(() => parseOptions([`${flag}=${value}`])).toThrow(flag);
});
