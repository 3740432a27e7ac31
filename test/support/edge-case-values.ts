/**
 * Values that rows and arguments do not expect: at the limits of the domain, beyond them, or
 * similar to a value of another type.
 */
export const EDGE_CASE_VALUES: readonly [unknown, ...unknown[]] = [
  null,
  true,
  -1,
  0,
  1.5,
  2 ** 31,
  2 ** 53,
  1e300,
  '',
  'submit',
  'ü🎫',
  'x'.repeat(3000),
  [],
  [[]],
  {},
  { $undefined: true },
  { $bytes: '%%%' },
  { $bytes: 'aGVsbG8=' },
  { $bigint: '12x' },
  { $bigint: '9'.repeat(40) },
  { $date: 'now' },
  { $date: 1.7e12 },
  { $: 1 },
  { constructor: 1, toString: 2, hasOwnProperty: 3 },
  JSON.parse('{"__proto__":{"admin":true}}'),
];
