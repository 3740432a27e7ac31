/**
 * The bytes of the ZooKeeper client: whatever arrives, and however, it is read right or refused
 * with a typed error.
 */
import { createServer, type AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isZooKeeperError } from '../../../../../src/bindings/zookeeper/client/errors.ts';
import {
  createJuteSplitter,
  JuteReader,
  JuteWriter,
} from '../../../../../src/bindings/zookeeper/client/jute.ts';
import { readMulti } from '../../../../../src/bindings/zookeeper/client/multi.ts';
import {
  readAcls,
  readChildren,
  readCreated,
  readData,
} from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { ZooKeeper } from '../../../../../src/bindings/zookeeper/client/zookeeper.ts';
import {
  onceEach,
  sharesOf,
  testShares,
  unnoted,
  type Note,
} from '../../../../support/property-shares.ts';
import { createCorruptFrames } from '../../../../support/corrupt-frames.ts';
import { scaleRuns } from '../../../../support/lane.ts';

const MAX_BYTES = 1024 * 1024;

const contents = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 });
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const framed = (frames: readonly Uint8Array[]): Buffer =>
  Buffer.concat(frames.map((frame) => new JuteWriter().buffer(frame).frame().subarray(4)));

test('frames: cut anywhere → each content whole and in order', () => {
  fc.assert(
    fc.property(
      contents,
      fc.array(fc.integer({ min: 1, max: 97 }), { minLength: 1 }),
      (frames, cuts) => {
        const stream = framed(frames);
        const splitter = createJuteSplitter(MAX_BYTES);
        const seen: string[] = [];
        for (let at = 0, n = 0; at < stream.length; n += 1) {
          const size = cuts[n % cuts.length] as number;
          splitter.push(stream.subarray(at, at + size), (content) => seen.push(hex(content)));
          at += size;
        }
        expect(seen).toEqual(frames.map(hex));
      },
    ),
  );
});

const anyBytes = createCorruptFrames(contents.map(framed));

const framesOrError = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(anyBytes, (bytes) => {
    const once = onceEach(note);
    const splitter = createJuteSplitter(300);
    const failure = failureOf(() => splitter.push(bytes, () => once('a frame')));
    expect(failure).toBeOneOf([undefined, 'PROTOCOL_ERROR']);
    if (failure !== undefined) once('PROTOCOL_ERROR');
  });

test('frames: any bytes → frames or PROTOCOL_ERROR, nothing else', async () => {
  await fc.assert(framesOrError(unnoted), { numRuns: scaleRuns(200) });
});

testShares('frames: the bytes → frames in many runs, and what is none', async () => {
  const shares = await sharesOf(framesOrError, 200);
  for (const description of ['a frame', 'PROTOCOL_ERROR'])
    expect(shares[description], description).toBeGreaterThan(0.2);
});

test('jute: any values → the same values', () => {
  const values = fc.record({
    int: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    long: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    bool: fc.boolean(),
    text: fc.string({ unit: 'binary', maxLength: 100 }),
    bytes: fc.option(fc.uint8Array({ maxLength: 300 })),
    list: fc.array(fc.string(), { maxLength: 10 }),
  });
  fc.assert(
    fc.property(values, ({ int, long, bool, text, bytes, list }) => {
      const writer = new JuteWriter().int(int).long(long).bool(bool).string(text).buffer(bytes);
      const frame = writer.list(list, (to, item) => to.string(item)).frame();
      const reader = new JuteReader(frame.subarray(4));
      expect(frame.readInt32BE(0)).toBe(frame.length - 4);
      expect([
        reader.int(),
        reader.long(),
        reader.bool(),
        reader.string(),
        reader.buffer(),
      ]).toEqual([int, long, bool, text, bytes]);
      expect(reader.list((item) => item.string())).toEqual(list);
      expect(reader.remaining).toBe(0);
    }),
  );
});

describe('replies', () => {
  const readers: Record<string, (reader: JuteReader) => unknown> = {
    readData,
    readChildren,
    readAcls,
    readCreated: (reader) => readCreated(reader, 15, { path: '/a', mode: 'persistent' }),
    readMulti: (reader) => readMulti(reader, []),
  };
  /** Small numbers, as lengths and counts are, the path that was asked about, and whatever else. */
  const replyBytes = fc
    .array(
      fc.oneof(
        { weight: 4, arbitrary: fc.nat(3).map((number) => [0, 0, 0, number]) },
        { weight: 2, arbitrary: fc.constant([0, 0, 0, 2, ...Buffer.from('/a')]) },
        { weight: 1, arbitrary: fc.uint8Array({ maxLength: 6 }).map((bytes) => [...bytes]) },
      ),
      { maxLength: 50 },
    )
    .map((words) => Buffer.from(words.flat()));
  const valueOrError =
    (read: (reader: JuteReader) => unknown) =>
    (note: Note): fc.IRawProperty<unknown> =>
      fc.property(
        fc.oneof(
          replyBytes,
          fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
        ),
        (bytes) => {
          const error = errorOf(() => read(new JuteReader(bytes)));
          expect(error === undefined || isZooKeeperError(error)).toBe(true);
          note(error === undefined ? 'a value' : 'an error');
        },
      );

  test.each(Object.entries(readers))(
    '%s: any bytes → a value or a ZooKeeperError',
    async (_name, read) => {
      await fc.assert(valueOrError(read)(unnoted), { numRuns: scaleRuns(200) });
    },
  );

  test.each(Object.entries(readers))(
    '%s: the bytes → now and then a value',
    async (_name, read) => {
      const shares = await sharesOf(valueOrError(read), 200);
      for (const description of ['a value', 'an error'])
        expect(shares[description], description).toBeGreaterThan(0.05);
    },
  );

  test('a list longer than its frame → refused before memory is set aside', () => {
    const frame = new JuteWriter().int(2 ** 31 - 1).frame();
    expect(failureOf(() => readChildren(new JuteReader(frame.subarray(4))))).toBe('PROTOCOL_ERROR');
  });
});

test('client: a server that talks nonsense → requests fail typed, nothing uncaught', async () => {
  let nonsense = new Uint8Array(0);
  let hangUp = (): void => {};
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('close', () => hangUp());
    socket.resume().end(nonsense);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 120 });
  const likely = fc
    .uint8Array({ minLength: 36, maxLength: 80 })
    .map((item) => Uint8Array.from([0, 0, 0, 32, ...item]));
  await fc.assert(
    fc.asyncProperty(fc.oneof(bytes, likely), async (sent) => {
      nonsense = sent;
      const hungUp = new Promise<void>((resolve) => (hangUp = resolve));
      const zk = new ZooKeeper(`127.0.0.1:${port}`, { sessionTimeoutMs: 60_000 });
      const failure = zk.exists('/a').catch((error: unknown) => error);
      await hungUp;
      await zk.close();
      expect(isZooKeeperError(await failure)).toBe(true);
    }),
    { numRuns: 60, endOnFailure: true },
  );
  await new Promise((resolve) => server.close(resolve));
});

function errorOf(action: () => unknown): unknown {
  try {
    action();
    return undefined;
  } catch (error) {
    return error;
  }
}

function failureOf(action: () => unknown): string | undefined {
  const error = errorOf(action);
  if (error === undefined || isZooKeeperError(error)) return error?.code;
  throw error;
}
