/** How rows are shown on a terminal. */
import { expect, test } from 'vitest';
import { formatRow, formatRows } from '../../../../src/cli/data/format-rows.ts';

test('aligns columns, and leaves fields without a value empty', () => {
  const rows = [
    { key: 'a', fields: { size: 1000, tags: ['x'] } },
    { key: 'longer', fields: { size: 1, tags: undefined } },
  ];
  expect(formatRows(['size', 'tags'], rows)).toEqual([
    'key     size  tags',
    'a       1000  ["x"]',
    'longer  1',
  ]);
});

test('cuts long keys and values, but not in the middle of a character, and not in a single row', () => {
  const text = `${'x'.repeat(37)}😀${'y'.repeat(50)}`;
  const [, line] = formatRows(['value'], [{ key: 'k'.repeat(50), fields: { value: text } }]);
  expect(line).toBe(`${'k'.repeat(39)}…  "${'x'.repeat(37)}…`);
  expect(formatRow({ key: 'k', fields: { value: text } })).toEqual([
    'key    k',
    `value  "${text}"`,
  ]);
});

test('shows values that JSON lacks as they are encoded elsewhere', () => {
  const value = { at: new Date(5), id: 7n, photo: new Uint8Array([1]) };
  expect(formatRow({ key: 'k', fields: { value } })[1]).toBe(
    'value  {"at":{"$date":5},"id":{"$bigint":"7"},"photo":{"$bytes":"AQ=="}}',
  );
});

test.each([
  ['', '""'],
  [' a', '" a"'],
  ['a"b', '"a\\"b"'],
  ['\u001b[2J', '"\\u001b[2J"'],
  ['\u009b2J', '"\\u009b2J"'],
  ['a\u202eb', '"a\\u202eb"'],
  ['us/ann 1', 'us/ann 1'],
])('the key %j is shown as %s', (key, shown) => {
  expect(formatRow({ key, fields: {} })).toEqual([`key  ${shown}`]);
});
