/**
 * Command lines of the fuzzer and of the histories: what they refuse. Their processes are tested
 * with one option.
 */
import { expect, test } from 'vitest';
import { parseOptions as parseFuzz } from '../../fuzz/options.ts';
import { parseOptions as parseHistories } from '../../histories/options.ts';

const ENGINES = ['cassandra', 'zookeeper'];

test.each([
  [['--minutes', 'soon'], '--minutes takes a number of minutes from 0.01 to 1440, not "soon"'],
  [['--seed', '1.5'], '--seed takes an integer from 0 to 2147483647, not "1.5"'],
  [['--sead', '7'], 'unknown option --sead; see --help'],
])('%j is refused by both', (args, message) => {
  expect(() => parseFuzz(args)).toThrow(message);
  expect(() => parseHistories(['zookeeper', ...args], ENGINES)).toThrow(message);
});

test('the fuzzer refuses 0 frames', () => {
  expect(() => parseFuzz(['--frames', '0'])).toThrow('--frames takes an integer from 1');
});

test.each([
  [[], 'say which engine: cassandra or zookeeper'],
  [['redis'], 'not "redis"'],
  [['zookeeper', 'cassandra'], 'unexpected argument "cassandra"; see --help'],
])('the histories refuse %j', (args, message) => {
  expect(() => parseHistories(args, ENGINES)).toThrow(message);
});
