/** The shop's command line: defaults as documented, and bad input refused with the flag's name. */
import { expect, test } from 'vitest';
import { parseOptions } from '../../../demo/tickets/options.ts';
import { UsageError } from '../../../engines/usage-error.ts';

test('options: none given → the documented defaults', () => {
  expect(parseOptions([])).toEqual({
    headless: false,
    json: false,
    binding: 'redblue',
    stock: 'queue',
    tickets: 500,
    threshold: 20,
    fixed: false,
    client: ['irl', 'frk', 'vrg', 'frk'],
    wan: 'paper',
    history: undefined,
    port: 7400,
  });
});

test.each([
  ['', ['irl', 'frk', 'vrg', 'frk']],
  ['--retailers 6', ['irl', 'frk', 'vrg', 'frk', 'irl', 'frk']],
  ['--client irl,vrg', ['irl', 'vrg']],
  ['--client irl,vrg --retailers 2', ['irl', 'vrg']],
  ['--client irl', ['irl', 'irl', 'irl', 'irl']],
  ['--client paper', ['frk', 'frk', 'frk', 'frk']],
  ['--client paper --retailers 2', ['frk', 'frk']],
])('placement: "%s" → a site a retailer', (argv, client) => {
  expect(parseOptions(argv.split(' ').filter(Boolean))?.client).toEqual(client);
});

test('placement: another number of sites than of retailers → refused', () => {
  expect(() => parseOptions(['--client', 'irl,vrg', '--retailers', '3'])).toThrow(UsageError);
});

test.each([
  ['--retailers', '0'],
  ['--tickets', '1.5'],
  ['--tickets', 'many'],
  ['--threshold', '-1'],
  ['--client', 'mars'],
  ['--client', 'irl,mars'],
  ['--client', 'irl,'],
  ['--wan', 'moon'],
  ['--stock', 'shares'],
  ['--binding', 'floppy'],
  ['--binding', 'zookeeper'],
  ['--port', '70000'],
  ['--tresshold', '20'],
])('options: %s=%s → refused by name', (flag, value) => {
  expect(() => parseOptions([`${flag}=${value}`])).toThrow(UsageError);
  expect(() => parseOptions([`${flag}=${value}`])).toThrow(flag);
});
