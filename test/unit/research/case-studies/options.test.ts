/**
 * The command line of the case studies: defaults as documented, and bad input refused with the
 * flag's name.
 */
import { expect, test } from 'vitest';
import { mixNamed, parseOptions } from '../../../../research/case-studies/options.ts';
import { UsageError } from '../../../../engines/usage-error.ts';

test('options: the study alone → the documented defaults', () => {
  expect(parseOptions(['tpcw'])).toEqual({
    study: 'tpcw',
    headless: false,
    json: false,
    mix: undefined,
    sites: 3,
    users: 10,
    scale: 0.02,
    seconds: 10,
    think: 0.1,
    wan: 'paper',
    seed: 1,
    port: 7430,
  });
});

test.each([
  ['', 'name a case study: tpcw'],
  ['tpch', 'not "tpch"'],
  ['tpcw more', 'unexpected argument "more"'],
  ['tpcw --sites 6', '--sites takes an integer from 1 to 5, not "6"'],
  ['tpcw --users 0', '--users takes an integer'],
  ['tpcw --scale 2', '--scale takes a number from 0.0001 to 1, not "2"'],
  ['tpcw --seconds soon', '--seconds takes a number'],
  ['tpcw --think 11', '--think takes a number from 0 to 10'],
  ['tpcw --latency moon', '--latency takes one of ec2, none, not "moon"'],
  ['tpcw --mix 3', '--mix takes a name'],
  ['tpcw --prot 1', 'unknown option --prot'],
])('options: "%s" → refused: %s', (line, message) => {
  const parse = (): unknown => parseOptions(line === '' ? [] : line.split(' '));
  expect(parse).toThrow(UsageError);
  expect(parse).toThrow(message);
});

test('the mix: the first one unless given; one that there is not → refused with those that there are', () => {
  const mixes = { shopping: {}, browsing: {} };
  expect(mixNamed(undefined, mixes)).toBe('shopping');
  expect(mixNamed('browsing', mixes)).toBe('browsing');
  expect(() => mixNamed('bidding', mixes)).toThrow(
    '--mix takes one of shopping, browsing, not "bidding"',
  );
});
