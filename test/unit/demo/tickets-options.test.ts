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
    client: ['ireland', 'frankfurt', 'virginia', 'frankfurt'],
    wan: 'paper',
    history: undefined,
    port: 7400,
  });
});

test.each([
  ['', ['ireland', 'frankfurt', 'virginia', 'frankfurt']],
  ['--retailers 6', ['ireland', 'frankfurt', 'virginia', 'frankfurt', 'ireland', 'frankfurt']],
  ['--client ireland,virginia', ['ireland', 'virginia']],
  ['--client ireland,virginia --retailers 2', ['ireland', 'virginia']],
  ['--client ireland', ['ireland', 'ireland', 'ireland', 'ireland']],
])('placement: "%s" → a site a retailer', (argv, client) => {
  expect(parseOptions(argv.split(' ').filter(Boolean))?.client).toEqual(client);
});

test('placement: another number of sites than of retailers → refused', () => {
  expect(() => parseOptions(['--client', 'ireland,virginia', '--retailers', '3'])).toThrow(
    UsageError,
  );
});

test.each([
  ['--retailers', '0'],
  ['--tickets', '1.5'],
  ['--tickets', 'many'],
  ['--threshold', '-1'],
  ['--client', 'mars'],
  ['--client', 'ireland,mars'],
  ['--client', 'ireland,'],
  ['--latency', 'moon'],
  ['--stock', 'shares'],
  ['--binding', 'floppy'],
  ['--binding', 'zookeeper'],
  ['--port', '70000'],
  ['--tresshold', '20'],
])('options: %s=%s → refused by name', (flag, value) => {
  expect(() => parseOptions([`${flag}=${value}`])).toThrow(UsageError);
  expect(() => parseOptions([`${flag}=${value}`])).toThrow(flag);
});
