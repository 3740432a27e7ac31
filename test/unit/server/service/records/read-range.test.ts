/** Intervals of keys: what begins with a text, in the order of code units. */
import { expect, test } from 'vitest';
import { isInRange, toReadRange } from '../../../../../src/server/service/records/read-range.ts';

/**
 * Characters at the edges: of one unit, around the surrogates, of two units, and the last of each.
 */
const EDGES = [
  '\u0000',
  'a',
  'b',
  '\ud7ff',
  '\u{10000}',
  '\u{103ff}',
  '\u{10ffff}',
  '\ue000',
  '\ufffe',
  '\uffff',
];
const texts = ['', ...EDGES, ...EDGES.flatMap((item) => EDGES.map((other) => item + other))];

test.each(texts.map((prefix) => [JSON.stringify(prefix), prefix]))(
  'what begins with %s → all of that, and nothing else',
  (_, prefix) => {
    const range = toReadRange('t', undefined, { prefix });
    const longer = [...texts, ...texts.map((text) => `${prefix}${text}`)];
    expect(longer.filter((text) => isInRange(range, text))).toEqual(
      longer.filter((text) => text.startsWith(prefix)),
    );
  },
);

test('a prefix beside other bounds → what is within all of them', () => {
  const keys = ['a', 'ab', 'abc', 'ac', 'b', 'ba'];
  const found = (options: object): string[] =>
    keys.filter((key) => isInRange(toReadRange('t', undefined, options), key));
  expect(found({ prefix: 'a', from: 'ab' })).toEqual(['ab', 'abc', 'ac']);
  expect(found({ prefix: 'ab', from: 'a' })).toEqual(['ab', 'abc']);
  expect(found({ prefix: 'a', before: 'abc' })).toEqual(['a', 'ab']);
  expect(found({ prefix: 'a', before: 'c' })).toEqual(['a', 'ab', 'abc', 'ac']);
  expect(found({ prefix: 'a', equals: 'ac' })).toEqual(['ac']);
});
