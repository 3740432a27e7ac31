/** Bytes that look like frames of a protocol: for those who take them apart. */
import fc from 'fast-check';

/** Frames, one byte of which is another one, or which are cut off; or no frames at all. */
export function createCorruptFrames(frames: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  return fc.oneof(
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)) },
    {
      weight: 3,
      arbitrary: fc
        .record({ sent: frames, at: fc.nat(), to: fc.nat(255), cut: fc.nat(20) })
        .map(({ sent, at, to, cut }) => {
          const bytes = Buffer.from(sent);
          if (bytes.length > 0) bytes[at % bytes.length] = to;
          return bytes.subarray(0, Math.max(0, bytes.length - cut));
        }),
    },
  );
}
