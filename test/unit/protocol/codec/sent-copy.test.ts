/**
 * A value that stays in the process arrives as it would at the other end, and is a copy of its own.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonCodec } from '../../../../src/protocol/codec/json-codec.ts';
import { copyForWire } from '../../../../src/protocol/codec/portable-values.ts';
import { scaleRuns } from '../../../support/lane.ts';

function sent(value: unknown): unknown {
  const [row] = jsonCodec.decode(jsonCodec.frame([jsonCodec.encodeMessage([1, 'view', value])]));
  return (row as unknown[])[2];
}

const key = fc.oneof(
  fc.string().filter((name) => name !== 'constructor'),
  fc.constantFrom('$bytes', '$$', '1'),
);
const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    true,
    -0,
    0,
    1.5,
    Number.NaN,
    '\ud800',
    7n,
    new Date(5),
    [],
  ),
  fc.string(),
  fc.uint8Array().map((bytes) => (bytes.length % 2 === 0 ? bytes : Buffer.from(bytes))),
);

/** The result of a call, or the code of its error. */
function resultOf(act: () => unknown): unknown {
  try {
    return { value: act() };
  } catch (error) {
    return { code: (error as { code?: unknown }).code };
  }
}

test('objects of scalars, bytes and what is neither → as over a wire, and refused alike', () => {
  fc.assert(
    fc.property(fc.dictionary(key, leaf), (value) => {
      expect(resultOf(() => copyForWire(value, 'args'))).toStrictEqual(resultOf(() => sent(value)));
    }),
    { numRuns: scaleRuns(500) },
  );
});

test.each([
  ['bytes', new Uint8Array([1, 2])],
  ['a date', new Date(5)],
  ['a list', [1]],
])('%s → another copy, alone and in an object', (_name, value) => {
  const copies = [
    copyForWire(value, 'args'),
    (copyForWire({ value }, 'args') as { value: unknown }).value,
  ];
  expect(copies).toStrictEqual([value, value]);
  expect(copies).not.toContain(value);
});

test('-0 by itself → 0, as over a wire', () => {
  expect(copyForWire(-0, 'result')).toBe(0);
});
