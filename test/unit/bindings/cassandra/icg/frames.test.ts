/** Cutting the bytes of a connection into frames. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FrameSplitter, type Frame } from '../../../../../src/bindings/cassandra/icg/frames.ts';
import { responseFrame } from './bodies.ts';
import { failureOf } from './failure-of.ts';

const MAX_BYTES = 1024;

const frames = fc.array(
  fc.record({
    stream: fc.integer({ min: -32_768, max: 32_767 }),
    opcode: fc.nat(255),
    flags: fc.nat(255),
    body: fc.uint8Array({ maxLength: 300 }),
  }),
  { maxLength: 20 },
);

test('frames: cut anywhere → each whole and in order', () => {
  fc.assert(
    fc.property(frames, fc.array(fc.integer({ min: 1, max: 97 }), { minLength: 1 }), (sent, cuts) => {
      const bytes = Buffer.concat(sent.map(responseFrame));
      const splitter = new FrameSplitter(MAX_BYTES);
      const seen: Frame[] = [];
      for (let at = 0, n = 0; at < bytes.length; n += 1) {
        const size = cuts[n % cuts.length] as number;
        splitter.push(bytes.subarray(at, at + size), (frame) => seen.push({ ...frame, body: Buffer.from(frame.body) }));
        at += size;
      }
      expect(seen).toEqual(sent.map((frame) => ({ ...frame, body: Buffer.from(frame.body) })));
    }),
  );
});

test('frames: byte by byte, a large one → put together once', () => {
  const body = Buffer.alloc(MAX_BYTES, 7);
  const seen: Buffer[] = [];
  const splitter = new FrameSplitter(MAX_BYTES);
  for (const byte of responseFrame({ stream: 1, opcode: 8, body })) {
    splitter.push(Buffer.of(byte), (frame) => seen.push(frame.body));
  }
  expect(seen).toEqual([body]);
});

test('frames: one that is longer than two bytes can say, then another → both whole', () => {
  const sent = [70_000, 3].map((bytes, stream) => ({ stream, opcode: 8, body: Buffer.alloc(bytes, 7) }));
  const bytes = Buffer.concat(sent.map(responseFrame));
  const seen: unknown[] = [];
  const splitter = new FrameSplitter(1 << 20);
  for (let at = 0; at < bytes.length; at += 4096) {
    splitter.push(bytes.subarray(at, at + 4096), ({ stream, body }) => seen.push([stream, body.length]));
  }
  expect(seen).toEqual([
    [0, 70_000],
    [1, 3],
  ]);
});

test('frames: any bytes → frames or PROTOCOL, nothing else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (bytes, isV4) => {
      const splitter = new FrameSplitter(200);
      if (isV4 && bytes.length > 0) bytes[0] = 0x84;
      expect(failureOf(() => splitter.push(Buffer.from(bytes), () => {}))).toBeOneOf([undefined, 'PROTOCOL']);
    }),
  );
});

test('frames: another version, a request, a longer body than allowed → PROTOCOL that says so', () => {
  const push = (frame: Buffer): void => new FrameSplitter(8).push(frame, () => {});
  const frame = { stream: 0, opcode: 2, body: Buffer.alloc(0) };
  expect(() => push(responseFrame({ ...frame, version: 0x85 }))).toThrow('protocol version 5; version 4 is needed');
  expect(() => push(responseFrame({ ...frame, version: 0x48 }))).toThrow('no answers of CQL');
  expect(() => push(responseFrame({ ...frame, body: Buffer.alloc(9) }))).toThrow('9 bytes: more than maxFrameBytes');
});
