/** In which memory views are held. */
import { expect, test } from 'vitest';
import { EncodedField, type Codec, type EncodedData } from '../../../../../src/protocol/codec/codec.ts';
import { msgpackCodec } from '../../../../../src/protocol/codec/msgpack-codec.ts';
import { OutletDouble, start } from './submission-doubles.ts';

/** How much memory each value keeps that was put into a row, and how much of it is the value. */
function watchedCodec(): { codec: Codec; seen: { kept: number; length: number }[] } {
  const seen: { kept: number; length: number }[] = [];
  const codec: Codec = {
    ...msgpackCodec,
    encodeMessage(row, fields) {
      for (const field of row) if (field instanceof EncodedField) seen.push(sizesOf(field.data));
      return msgpackCodec.encodeMessage(row, fields);
    },
  };
  return { codec, seen };
}

function sizesOf(data: EncodedData): { kept: number; length: number } {
  return { kept: typeof data === 'string' ? data.length : data.buffer.byteLength, length: data.length };
}

test('views that are held → apart from the memory that they were written in', () => {
  const { codec, seen } = watchedCodec();
  const { submission, memory } = start(2, 'write', codec);
  const count = 3;
  for (let n = 0; n < count; n++) submission.view({ n }, 'tentative');
  submission.detach();
  seen.length = 0;
  memory.repeat(new OutletDouble());
  expect(seen).toHaveLength(count);
  for (const { kept: retained, length } of seen) expect(retained).toBe(length);
});
