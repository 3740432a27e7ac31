/** Cutting the bytes of a connection into frames. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createResponseSplitter,
  type Frame,
} from '../../../../src/research/cassandra-icg/frames.ts';
import {
  onceEach,
  sharesOf,
  testShares,
  unnoted,
  type Note,
} from '../../../support/property-shares.ts';
import { createCorruptFrames } from '../../../support/corrupt-frames.ts';
import { responseFrame } from './bodies.ts';
import { failureOf } from './reads.ts';
import { scaleRuns } from '../../../support/lane.ts';

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

/** With its body as text: that is compared at once. */
const shown = ({
  body,
  ...header
}: Omit<Frame, 'body'> & { readonly body: Uint8Array }): unknown => {
  return { ...header, body: Buffer.from(body).toString('hex') };
};

test('frames: cut anywhere → each whole and in order', () => {
  fc.assert(
    fc.property(
      frames,
      fc.array(fc.integer({ min: 1, max: 97 }), { minLength: 1 }),
      (sent, cuts) => {
        const bytes = Buffer.concat(sent.map(responseFrame));
        const splitter = createResponseSplitter(MAX_BYTES);
        const seen: unknown[] = [];
        for (let at = 0, n = 0; at < bytes.length; n += 1) {
          const size = cuts[n % cuts.length] as number;
          splitter.push(bytes.subarray(at, at + size), (frame) => seen.push(shown(frame)));
          at += size;
        }
        expect(seen).toEqual(sent.map(shown));
      },
    ),
  );
});

test('frames: byte by byte, a large one → put together once', () => {
  const body = Buffer.alloc(MAX_BYTES, 7);
  const seen: Buffer[] = [];
  const splitter = createResponseSplitter(MAX_BYTES);
  for (const byte of responseFrame({ stream: 1, opcode: 8, body })) {
    splitter.push(Buffer.of(byte), (frame) => seen.push(frame.body));
  }
  expect(seen).toEqual([body]);
});

test('frames: one that is longer than two bytes can say, then another → both whole', () => {
  const sent = [70_000, 3].map((bytes, stream) => ({
    stream,
    opcode: 8,
    body: Buffer.alloc(bytes, 7),
  }));
  const bytes = Buffer.concat(sent.map(responseFrame));
  const seen: unknown[] = [];
  const splitter = createResponseSplitter(1 << 20);
  for (let at = 0; at < bytes.length; at += 4096) {
    splitter.push(bytes.subarray(at, at + 4096), ({ stream, body }) =>
      seen.push([stream, body.length]),
    );
  }
  expect(seen).toEqual([
    [0, 70_000],
    [1, 3],
  ]);
});

const anyBytes = createCorruptFrames(frames.map((sent) => Buffer.concat(sent.map(responseFrame))));

const framesOrProtocol = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(anyBytes, (bytes) => {
    const once = onceEach(note);
    const splitter = createResponseSplitter(300);
    const failure = failureOf(() => splitter.push(bytes, () => once('a frame')));
    expect(failure).toBeOneOf([undefined, 'PROTOCOL']);
    if (failure !== undefined) once('PROTOCOL');
  });

test('frames: any bytes → frames or PROTOCOL, nothing else', async () => {
  await fc.assert(framesOrProtocol(unnoted), { numRuns: scaleRuns(200) });
});

testShares('frames: the bytes → frames in many runs, and what is none', async () => {
  const shares = await sharesOf(framesOrProtocol, 200);
  for (const description of ['a frame', 'PROTOCOL'])
    expect(shares[description], description).toBeGreaterThan(0.2);
});

test('frames: another version, a request, a longer body than allowed → PROTOCOL with the cause', () => {
  const push = (frame: Buffer): void => createResponseSplitter(8).push(frame, () => {});
  const frame = { stream: 0, opcode: 2, body: Buffer.alloc(0) };
  expect(() => push(responseFrame({ ...frame, version: 0x85 }))).toThrow(
    'protocol version 5; version 4 is needed',
  );
  expect(() => push(responseFrame({ ...frame, version: 0x48 }))).toThrow('no answers of CQL');
  expect(() => push(responseFrame({ ...frame, body: Buffer.alloc(9) }))).toThrow(
    '9 bytes: more than maxFrameBytes',
  );
});
