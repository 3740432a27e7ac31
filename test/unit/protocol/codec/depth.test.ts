/** What can be written can be read: at the border of nesting, and whatever a value is made of. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCorrectableError } from '../../../../src/correctable/errors.ts';
import { checkPortable, copyForWire } from '../../../../src/protocol/codec/portable-values.ts';
import {
  EncodedField,
  UndecodableMessage,
  type Codec,
} from '../../../../src/protocol/codec/codec.ts';
import { MAX_DEPTH } from '../../../../src/values/value-kinds.ts';
import { jsonCodec } from '../../../../src/protocol/codec/json-codec.ts';
import { msgpackCodec } from '../../../../src/protocol/codec/msgpack-codec.ts';
import { scaleRuns } from '../../../support/lane.ts';

const CODECS = { json: jsonCodec, msgpack: msgpackCodec };

/** All that has no parts, and what is written as more than it is. */
const leaf = fc.constantFrom<unknown>(
  1,
  'text',
  null,
  true,
  undefined,
  7n,
  new Date(0),
  new Uint8Array([1]),
  {},
  [],
);

const wrap = {
  list: (inner: unknown): unknown => [inner],
  object: (inner: unknown): unknown => ({ inner }),
  tagged: (inner: unknown): unknown => ({ $inner: inner }),
  both: (inner: unknown): unknown => ({ a: [1], inner }),
};

/** Values about as deep as can be sent. */
const deep = fc
  .tuple(
    leaf,
    fc.array(fc.constantFrom(...Object.values(wrap)), {
      minLength: MAX_DEPTH - 4,
      maxLength: MAX_DEPTH + 1,
    }),
  )
  .map(([inner, wraps]) => wraps.reduce((value, item) => item(value), inner));

/** Ways to put a value into a row. */
const WAYS: Record<string, (codec: Codec, value: unknown) => readonly unknown[]> = {
  'as a field': (_codec, value) => [1, 'view', value],
  'encoded before': (codec, value) => [1, 'view', new EncodedField(codec.encodeValue(value))],
  'beside one that was encoded before': (codec, value) => [
    1,
    new EncodedField(codec.encodeValue('x')),
    value,
  ],
};

/** What `act` gives; `undefined` where it refuses a value. */
function unlessRefused<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (isCorrectableError(error, 'INVALID_VALUE')) return undefined;
    throw error;
  }
}

/** The row as the other end reads it; `undefined` for one that is refused with the field named. */
function sent(codec: Codec, row: () => readonly unknown[]): unknown {
  return unlessRefused(() => {
    const encoded = codec.encodeMessage(row(), ['id', 'kind', 'value']);
    return codec.decode(codec.frame([encoded]))[0];
  });
}

for (const [name, codec] of Object.entries(CODECS)) {
  describe(name, () => {
    for (const [way, rowOf] of Object.entries(WAYS)) {
      test(`value at the border, ${way} → what is written can be read`, () => {
        fc.assert(
          fc.property(deep, (value) => {
            expect(sent(codec, () => rowOf(codec, value))).not.toBeInstanceOf(UndecodableMessage);
          }),
          { numRuns: scaleRuns(300) },
        );
      });
    }
  });
}

test('values at the border → both codecs and all ways agree on what can be sent', () => {
  fc.assert(
    fc.property(deep, (value) => {
      const verdicts = Object.values(CODECS).flatMap((codec) =>
        Object.values(WAYS).map((rowOf) => sent(codec, () => rowOf(codec, value)) !== undefined),
      );
      expect(new Set(verdicts).size).toBe(1);
    }),
    { numRuns: scaleRuns(300) },
  );
});

test('values at the border, to stay in the process or to be kept → refused where they could not be sent', () => {
  fc.assert(
    fc.property(deep, (value) => {
      const canBeSent = sent(jsonCodec, () => [1, 'view', value]) !== undefined;
      const canStay = unlessRefused(() => [copyForWire(value, 'args')]) !== undefined;
      const canBeKept = unlessRefused(() => [checkPortable(value, 'args')]) !== undefined;
      expect([canStay, canBeKept]).toEqual([canBeSent, canBeSent]);
    }),
    { numRuns: scaleRuns(300) },
  );
});
