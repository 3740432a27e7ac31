/**
 * Whatever is cut, torn or lost where nothing was synced: what was synced comes back, in order, and
 * nothing else.
 */
// @rule STO-3, STO-4
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeFrames, encodeFrame } from '../../src/server/node/storage/format/frames.ts';
import { onceEach, sharesOf, testShares, unnoted, type Note } from '../support/property-shares.ts';
import { VirtualMachine } from '../unit/server/node/storage/virtual-storage.ts';
import { scaleRuns } from '../support/lane.ts';

const RUNS = Number(process.env['FC_RUNS'] ?? scaleRuns(150));

describe('frames', () => {
  const payloads = fc.array(fc.string({ minLength: 1, unit: 'grapheme', maxLength: 80 }), {
    maxLength: 12,
  });
  const encodeAll = (texts: readonly string[]): Buffer =>
    Buffer.concat(texts.map((text, index) => encodeFrame(text, { file: 7, index })));
  const decodeAll = (bytes: Uint8Array, file = 7): string[] =>
    [...decodeFrames(bytes, file)].map((payload) => payload.toString());

  test('any payloads, zeros behind them → the same payloads', () => {
    fc.assert(
      fc.property(payloads, fc.nat(200), (texts, zeros) => {
        expect(decodeAll(Buffer.concat([encodeAll(texts), Buffer.alloc(zeros)]))).toEqual(texts);
      }),
      { numRuns: RUNS },
    );
  });

  test('cut anywhere → the frames before the cut', () => {
    fc.assert(
      fc.property(payloads, fc.nat(), (texts, draw) => {
        const bytes = encodeAll(texts);
        const cut = draw % (bytes.length + 1);
        const whole = texts.filter(
          (_, index) => encodeAll(texts.slice(0, index + 1)).length <= cut,
        );
        expect(decodeAll(bytes.subarray(0, cut))).toEqual(whole);
      }),
      { numRuns: RUNS },
    );
  });

  test('a byte changed anywhere → the frames before it, never a wrong one', () => {
    fc.assert(
      fc.property(payloads, fc.nat(), fc.integer({ min: 1, max: 255 }), (texts, draw, change) => {
        const bytes = encodeAll(texts);
        fc.pre(bytes.length > 0);
        const place = draw % bytes.length;
        bytes[place] = (bytes[place] as number) ^ change;
        const before = texts.filter(
          (_, index) => encodeAll(texts.slice(0, index + 1)).length <= place,
        );
        expect(decodeAll(bytes)).toEqual(before);
      }),
      { numRuns: RUNS },
    );
  });

  test('frames of another file → none', () => {
    expect(decodeAll(encodeAll(['a', 'b']), 8)).toEqual([]);
  });
});

type Step = 'checkpoint' | 'crash' | { waitMs: number } | { log: 'local' | 'red'; count: number };

type Drawn = [
  seed: number,
  given: { segmentBytes: 300 | 2000 | 20_000; checkpointBytes: number; largeGroup: 1 | 3 | 256 },
  instantShare: 0 | 0.5 | 1,
  steps: Step[],
];

/**
 * Shrunk: a checkpoint, while the first file of a start was left with nothing in it for a larger
 * one.
 */
const FIRST_FILE_LEFT_EMPTY: Drawn = [
  614991320,
  { segmentBytes: 300, checkpointBytes: 200, largeGroup: 1 },
  1,
  [
    'checkpoint',
    'crash',
    { log: 'local', count: 8 },
    { waitMs: 0 },
    { log: 'local', count: 3 },
    { waitMs: 6 },
    'crash',
    { log: 'local', count: 4 },
    { waitMs: 2 },
    'crash',
    'crash',
    { log: 'local', count: 5 },
    { log: 'local', count: 7 },
    'checkpoint',
    { log: 'local', count: 5 },
    { log: 'local', count: 4 },
    { log: 'local', count: 8 },
    { log: 'local', count: 4 },
    { waitMs: 0 },
    { log: 'local', count: 4 },
    { waitMs: 7 },
  ],
];

describe('durable storage', () => {
  /** Appends to a log, lets time pass, makes a checkpoint, or crashes. */
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        log: fc.constantFrom('local' as const, 'red' as const),
        count: fc.integer({ min: 1, max: 8 }),
      }),
    },
    // Short ones too, so that writes are under way beside each other.
    {
      weight: 6,
      arbitrary: fc.record({
        waitMs: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 30 })),
      }),
    },
    { weight: 1, arbitrary: fc.constant('checkpoint' as const) },
    { weight: 2, arbitrary: fc.constant('crash' as const) },
  );
  const sizes = fc.record({
    segmentBytes: fc.constantFrom(300, 2000, 20_000),
    checkpointBytes: fc.constantFrom(200, 3000, Infinity),
    largeGroup: fc.constantFrom(1, 3, 256),
  });
  const instantShares = fc.constantFrom(0, 0.5, 1);

  const crashed = (note: Note): fc.IRawProperty<Drawn> =>
    fc.property(
      fc.nat(),
      sizes,
      instantShares,
      fc.array(step, { maxLength: 60 }),
      (seed, value, instantShare, steps) => {
        const once = onceEach(note);
        const machine = new VirtualMachine(seed, value, { instantShare });
        let site = machine.start();
        let next = 0;
        for (const item of [...steps, 'crash' as const]) {
          if (item === 'checkpoint') site.storage.checkpoint();
          else if (item !== 'crash' && 'waitMs' in item) machine.run(item.waitMs);
          else if (item !== 'crash')
            for (let n = 0; n < item.count; n += 1) site.append(item.log, `entry ${next++}`);
          else {
            machine.disk.crash();
            const again = machine.start();
            for (const log of ['local', 'red'] as const) {
              expect(again.entries[log].length).toBeGreaterThanOrEqual(site.synced[log]);
              expect(again.entries[log]).toEqual(
                site.entries[log].slice(0, again.entries[log].length),
              );
              if (again.entries[log].length < site.entries[log].length)
                once('a crash loses something');
              if (again.entries[log].length > 5) once('many entries come back');
            }
            site = again;
          }
        }
        if (steps.filter((entry) => entry === 'crash').length > 1) note('several crashes');
        if (steps.includes('checkpoint')) note('a checkpoint');
      },
    );

  test('any steps and crashes, on a disk that tears → all that was synced comes back, and only what was appended', async () => {
    await fc.assert(crashed(unnoted), { numRuns: RUNS, examples: [FIRST_FILE_LEFT_EMPTY] });
  });

  testShares(
    'the steps → in most runs several crashes, of which one loses something, checkpoints, and much that comes back',
    async () => {
      const shares = await sharesOf(crashed, 60);
      for (const description of [
        'a crash loses something',
        'many entries come back',
        'several crashes',
        'a checkpoint',
      ]) {
        expect(shares[description], description).toBeGreaterThan(0.5);
      }
    },
  );
});
