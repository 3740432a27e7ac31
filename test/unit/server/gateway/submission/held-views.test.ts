/** In which memory views are held. */
import { expect, test } from 'vitest';
import { EncodedField, type Codec, type Encoded } from '../../../../../src/protocol/codec/codec.ts';
import { msgpackCodec } from '../../../../../src/protocol/codec/msgpack-codec.ts';
import { OutletDouble, start } from './submission-doubles.ts';

/** How much memory each value keeps that was put into a row, and how much of it is the value. */
function watchedCodec(): { codec: Codec; seen: { kept: number; length: number }[] } {
  const seen: { kept: number; length: number }[] = [];
  const codec: Codec = {
    ...msgpackCodec,
    encodeRow(row, fields) {
      for (const field of row) if (field instanceof EncodedField) seen.push(sizesOf(field.data));
      return msgpackCodec.encodeRow(row, fields);
    },
  };
  return { codec, seen };
}

function sizesOf(data: Encoded): { kept: number; length: number } {
  return { kept: typeof data === 'string' ? data.length : data.buffer.byteLength, length: data.length };
}

test('views that are held → apart from the memory that they were written in', () => {
  const { codec, seen } = watchedCodec();
  const { submission, memory } = start(2, 'update', codec);
  const count = 3;
  for (let n = 0; n < count; n++) submission.update({ n }, 'tentative');
  submission.detach();
  seen.length = 0;
  memory.repeat(new OutletDouble());
  expect(seen).toHaveLength(count);
  for (const { kept, length } of seen) expect(kept).toBe(length);
});
