/** Descriptions of options: what they accept, what they fill in, and what their errors say. */
import { expect, expectTypeOf, test } from 'vitest';
import {
  amount,
  callback,
  distinctNames,
  integer,
  matches,
  nested,
  objectWith,
  oneOf,
  optional,
  readOptions,
  required,
  text,
  trueOrFalse,
  type OptionCheck,
  type OptionsOf,
} from '../../../src/correctable/options.ts';

interface FerryOptions {
  readonly port: string;
  readonly seats?: number | undefined;
  readonly isFast?: boolean | undefined;
  readonly onArrival?: (() => void) | undefined;
}

const FERRY = {
  port: required(text),
  seats: optional(integer(), 40),
  isFast: optional(trueOrFalse),
  onArrival: optional(callback),
} satisfies OptionsOf<FerryOptions>;

const usage = { call: "ferry({ port: 'Rosslare' })" };
const read = (options: unknown) => readOptions(options as FerryOptions, usage, FERRY);

test('options → the same, with the defaults of those that were left out', () => {
  const resolved = read({ port: 'Rosslare', seats: undefined, isFast: undefined });
  expect(resolved).toStrictEqual({ port: 'Rosslare', seats: 40 });
  expectTypeOf(resolved.seats).toEqualTypeOf<number>();
  expectTypeOf(resolved.isFast).toEqualTypeOf<boolean | undefined>();
  expect(read({ port: 'Cherbourg', seats: 2 })).toStrictEqual({ port: 'Cherbourg', seats: 2 });
});

test.each([
  ['no object', undefined, 'options', "options: write ferry({ port: 'Rosslare' })"],
  [
    'a misspelled name',
    { port: 'a', seat: 2 },
    'seat',
    'ferry(): unknown option "seat". Did you mean "seats"?',
  ],
  ['a required option left out', {}, 'port', 'port: must be a string that is not empty'],
  [
    'null for an option',
    { port: 'a', seats: null },
    'seats',
    'seats: must be an integer from 1 on, got null',
  ],
])('%s → INVALID_ARGUMENT with its field', (_, options, field, message) => {
  expect(() => read(options)).toThrow(
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      field,
      message: expect.stringContaining(message),
    }),
  );
});

test('options inside of an option → errors name the whole path', () => {
  const FLEET = {
    ferry: optional(nested('{ ferry: { seats: 2 } }', { seats: optional(integer()) })),
  };
  const readFleet = (ferry: unknown) => () => readOptions({ ferry }, { call: 'fleet({})' }, FLEET);
  expect(readFleet({ seats: 2 })).not.toThrow();
  expect(readFleet({ seats: 0 })).toThrow('ferry.seats: must be an integer from 1 on, got 0');
  expect(readFleet({ port: 1 })).toThrow('ferry: unknown option "port". Options: seats.');
  expect(readFleet(5)).toThrow('ferry: write { ferry: { seats: 2 } }');
});

test.each<
  [kind: string, check: OptionCheck, right: readonly unknown[], wrong: unknown, expected: string]
>([
  ['integer', integer(), [1, 2 ** 53 - 1], 0.5, 'must be an integer from 1 on, got 0.5'],
  [
    'integer without a limit',
    integer({ max: Infinity }),
    [Infinity],
    0,
    'from 1 on, or Infinity for no limit, got 0',
  ],
  ['integer', integer(), [], Infinity, 'must be an integer from 1 on, got Infinity'],
  [
    'bounded integer',
    integer({ min: 0, max: 9 }),
    [0, 9],
    '5',
    'must be an integer from 0 to 9, got "5"',
  ],
  ['bounded integer', integer({ max: 9 }), [], 10, 'must be an integer from 1 to 9, got 10'],
  ['amount', amount({ above: 0 }), [0.1, 1e300], 0, 'must be a number above 0, got 0'],
  [
    'amount',
    amount({ above: 0, max: Infinity }),
    [Infinity],
    Number.NaN,
    'or Infinity for no limit, got NaN',
  ],
  [
    'amount',
    amount({ max: 1 }),
    [0, 1],
    Symbol('x'),
    'must be a number from 0 to 1, got Symbol(x)',
  ],
  ['oneOf', oneOf('a', 'b'), ['a', 'b'], { toString: 1 }, "must be 'a' or 'b', got an object"],
  ['oneOf', oneOf('a', 'b'), [], () => 'a', "must be 'a' or 'b', got a function"],
  ['callback', callback, [() => 1], {}, 'must be a function'],
  ['trueOrFalse', trueOrFalse, [true, false], 'yes', 'must be true or false'],
  [
    'objectWith',
    objectWith(['on'], 'a server'),
    [{ on: () => 1 }],
    { on: 1 },
    'must have on, as a server has',
  ],
  [
    'distinctNames',
    distinctNames("['a']", 2),
    [['a', 'b']],
    ['a', 'a'],
    "1 to 2 different names, as ['a']",
  ],
  [
    'distinctNames',
    distinctNames("['a']"),
    [['a']],
    [],
    "must be a list of one or more different names, as ['a']",
  ],
  ['matches', matches((value) => value === 1, 'must be 1'), [1], 2, 'must be 1'],
])(
  '%s accepts what fits, and says what is expected otherwise',
  (_, check, right, wrong, expected) => {
    for (const value of right) expect(check(value, 'field')).toBeUndefined();
    expect(check(wrong, 'field')).toContain(expected);
  },
);
