/** Invalid frames of a protocol, for tests of parsers. */
import fc from 'fast-check';

/**
 * Draws frames in which one byte is changed, or which are truncated, or bytes that are no frames.
 */
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
