/** Frames come whole, however the bytes are cut. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  FRAME,
  FrameReader,
  encodeFrameHead,
  type FrameType,
} from '../../../../../src/server/node/links/frames.ts';

const frame = (type: FrameType, content: Uint8Array): Buffer =>
  Buffer.concat([encodeFrameHead(type, content.length), content]);

test('frames cut anywhere → come whole and in order', () => {
  const frames = fc.array(
    fc.tuple(fc.constantFrom(...Object.values(FRAME)), fc.uint8Array({ maxLength: 40 })),
  );
  fc.assert(
    fc.property(
      frames,
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
      (sent, sizes) => {
        const bytes = Buffer.concat(sent.map(([type, content]) => frame(type, content)));
        const reader = new FrameReader(() => 1000);
        const received: (readonly [FrameType, Uint8Array])[] = [];
        for (let [at, turn] = [0, 0]; at < bytes.length; turn += 1) {
          const size = sizes[turn % sizes.length] as number;
          const chunk = Buffer.from(bytes.subarray(at, at + size));
          for (const { type, content } of reader.read(chunk))
            received.push([type, Uint8Array.from(content)]);
          at += size;
        }
        expect(received).toEqual(sent);
      },
    ),
  );
});

test.each([
  ['larger than allowed', frame(FRAME.envelope, new Uint8Array(11))],
  ['without a type', Buffer.alloc(4)],
  ['of an unknown type', frame(9 as FrameType, new Uint8Array(1))],
])('a frame %s → is refused', (_what, bytes) => {
  expect(() => new FrameReader(() => 10).read(bytes)).toThrow('a frame');
});
