/** The command line of the cluster. */
import { expect, test } from 'vitest';
import { parseOptions } from '../../../demo/cluster/options.ts';
import { UsageError } from '../../../engines/usage-error.ts';

test('nothing given → the page, with the delays of the papers', () => {
  expect(parseOptions([])).toMatchObject({
    headless: false,
    wan: 'paper',
    keep: undefined,
    port: 7400,
  });
});

test('--headless → 500 tickets, and the sites that are killed and frozen', () => {
  expect(
    parseOptions(['--headless', '--json', '--history', 'h.jsonl', '--keep', 'kept']),
  ).toMatchObject({
    headless: true,
    json: true,
    tickets: 500,
    threshold: 20,
    kill: 'frankfurt',
    freeze: 'virginia',
    history: 'h.jsonl',
    keep: 'kept',
  });
});

test.each([
  [
    ['--kill', 'mars', '--headless'],
    '--kill takes one of ireland, frankfurt, virginia, not "mars"',
  ],
  [['--tickets', '0', '--headless'], '--tickets takes an integer from 1'],
  [['--history', 'h.jsonl'], '--history is for a sale without a page: add --headless'],
  [['--latency', 'slow'], '--latency takes one of eu-us, none'],
  [['--keep'], '--keep'],
  [['--pace', '3'], 'unknown option --pace'],
  [['now'], 'unexpected argument "now"'],
])('%j → the error names what to change', (argv, message) => {
  expect(() => parseOptions(argv)).toThrow(message);
  expect(() => parseOptions(argv)).toThrow(expect.any(UsageError) as Error);
});
