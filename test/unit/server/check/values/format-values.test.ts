/** Values as people and programs read them. */
import { expect, test } from 'vitest';
import {
  formatValue,
  serializeArgs,
} from '../../../../../src/server/check/values/format-values.ts';

test.each<[string, { readonly value: unknown; readonly text: string; readonly json: unknown }]>([
  ['a big integer', { value: { n: 5n }, text: '{ n: 5n }', json: { n: { $bigint: '5' } } }],
  ['a date', { value: [new Date(0)], text: '[1970-01-01T00:00:00.000Z]', json: [{ $date: 0 }] }],
  ['bytes', { value: [new Uint8Array(3)], text: '[<3 bytes>]', json: [{ $bytes: 'AAAA' }] }],
  ['nothing', { value: undefined, text: 'undefined', json: undefined }],
  [
    'a date that is none',
    { value: [new Date(Number.NaN)], text: '[Invalid Date]', json: '[Invalid Date]' },
  ],
  ['a set', { value: [new Set(['x'])], text: "[new Set(['x'])]", json: "[new Set(['x'])]" }],
  [
    'a map',
    { value: [new Map([['x', 1]])], text: "[new Map([['x', 1]])]", json: "[new Map([['x', 1]])]" },
  ],
])(
  '%s → text for people, and JSON as the wire has it where there is one',
  (_, { value, text, json }) => {
    expect(formatValue(value)).toBe(text);
    expect(serializeArgs(value)).toEqual(json);
  },
);
