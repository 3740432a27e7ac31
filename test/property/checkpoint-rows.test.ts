/** A checkpoint file that is read frame by frame, compared with one that is read as a whole. */
// @rule ROW-11
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CheckpointRow } from '../../src/server/node/storage/format/checkpoint-file.ts';
import {
  CheckpointRows,
  summarizeCheckpoint,
} from '../../src/server/node/storage/format/checkpoint-rows.ts';
import { createCheckpointFile } from '../support/checkpoint-files.ts';
import { scaleRuns } from '../support/lane.ts';
import { readCheckpoint } from '../support/read-checkpoint.ts';

const RUNS = Number(process.env['FC_RUNS'] ?? scaleRuns(500));
const FILE = 3;

const name = fc.constantFrom('a', 'b', '\u0000', '"smallParts":', '\ud800\udc00');
const value = fc.oneof(name, fc.record({ smallParts: fc.nat(9) }), fc.constant(1n));
const row: fc.Arbitrary<CheckpointRow> = fc.oneof(
  fc.tuple(fc.constantFrom('rows', 'slots'), name, value),
  fc.tuple(fc.constantFrom('rows', 'slots'), name),
);
const position = fc.record({ local: fc.nat(9), red: fc.nat(9) });
const commit = fc.record({
  frames: fc.array(fc.array(row, { maxLength: 4 }), { minLength: 1, maxLength: 3 }),
  smallParts: value,
  contained: position,
  retainedFrom: position,
});
/** What has happened to the file since. */
const change = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.record({ cutAt: fc.double({ min: 0, max: 1, noNaN: true }) }) },
  { weight: 2, arbitrary: fc.record({ flipAt: fc.double({ min: 0, max: 1, noNaN: true }) }) },
);

function run<T>(steps: Generator<number, T, void>): T {
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
  }
}

test('any file, also one that is cut off or damaged → the same state', () => {
  fc.assert(
    fc.property(fc.array(commit, { maxLength: 3 }), change, fc.nat(9), (commits, what, zeros) => {
      const whole = createCheckpointFile(FILE, commits);
      let bytes = Buffer.concat([whole, Buffer.alloc(zeros)]);
      if ('cutAt' in what) bytes = bytes.subarray(0, Math.floor(what.cutAt * bytes.length));
      if ('flipAt' in what) {
        const at = Math.min(bytes.length - 1, Math.floor(what.flipAt * bytes.length));
        bytes[at] = bytes[at]! ^ 4;
      }
      const { checkpoint, damage, commits: count, ...positions } = readCheckpoint(bytes, FILE);
      const source = { read: (from: number, size: number) => bytes.subarray(from, from + size) };
      const summary = run(summarizeCheckpoint(source, FILE));
      expect([summary.commits, summary.damage]).toEqual([count, damage]);
      const { smallParts, contained, retainedFrom } = summary.last ?? {};
      expect({ contained, retainedFrom }).toEqual(positions);
      expect(smallParts).toEqual(checkpoint?.smallParts);

      const rows = new CheckpointRows(source, FILE, summary);
      run(rows.findLast());
      // It may be read twice.
      for (const read of [[...rows], [...rows]]) {
        const found = read.map(([section, key, saved]) => [`${section} ${key}`, saved] as const);
        expect(new Map(found).size).toBe(found.length);
        const expected = Object.entries(checkpoint?.sections ?? {}).flatMap(([section, saved]) =>
          [...saved].map(([key, item]) => [`${section} ${key}`, item] as const),
        );
        expect(new Map(found)).toEqual(new Map(expected));
      }
    }),
    { numRuns: RUNS },
  );
});
