import { expect, test } from 'vitest';
import {
  formatChunkName,
  formatPart,
  formatPartName,
  formatRowName,
  parsePart,
  parseSavedName,
} from '../../../../../src/server/service/state/saved-names.ts';

const TEXTS = ['', '\u0000', '\u0000\u0000', 'a', 'a\u0000', '\u0000a', 'a\u0000a', '0'];
const NAMES = ['a', '0', 'by.a', 'keys'];

test('rows, parts and chunks → a name of their own each', () => {
  const names = NAMES.flatMap((table) => [
    ...TEXTS.map((key) => formatRowName(table, key)),
    ...NAMES.flatMap((field) =>
      TEXTS.map((key) => formatPartName(table, formatPart(field, 0, key))),
    ),
    ...NAMES.flatMap((order) =>
      ['', '0', '1'].map((chunk) => formatChunkName(table, order, chunk)),
    ),
  ]);
  expect(new Set(names).size).toBe(names.length);
});

test('names of rows and parts → what they were made of', () => {
  for (const key of TEXTS) {
    expect(parseSavedName(formatRowName('t', key))).toEqual({ kind: 'row', table: 't', key });
    const part = formatPart('items', 12, key);
    expect(parseSavedName(formatPartName('t', part))).toEqual({ kind: 'part', table: 't', part });
    expect(parsePart(part)).toEqual({ field: 'items', number: 12, key });
  }
});
