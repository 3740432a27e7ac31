/** The bytes of a transfer are those of a checkpoint file with the shared part of a commit. */
// @rule CLU-T3
import { beforeEach, describe, expect, test } from 'vitest';
import { Random } from '../../../../../src/server/service/collections/random.ts';
import { Store } from '../../../../../src/server/service/state/store.ts';
import { readCheckpoint } from '../../../../support/read-checkpoint.ts';
import { decodeFrames } from '../../../../../src/server/node/storage/format/frames.ts';
import type { HeldCommit } from '../../../../../src/server/node/storage/rows/row-commits.ts';
import { estimateTransferBytes } from '../../../../../src/server/node/transfer/estimate-transfer.ts';
import { SharedFrames } from '../../../../../src/server/node/transfer/shared-frames.ts';
import { getFileNumber } from '../../../../../src/server/node/transfer/transfer-messages.ts';
import { SavedSite, SMALL_PARTS, TABLES } from '../storage/rows/saved-site.ts';

const HEADER = { transfer: 'a transfer', donor: 'ireland' };
const FILE = getFileNumber(HEADER.transfer);

let site: SavedSite;
let commit: HeldCommit;
beforeEach(() => {
  site = new SavedSite();
  commit = site.commit();
});

interface Read {
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
}

function readAt(frames: SharedFrames, offset: number, maxBytes: number): Read {
  for (;;) {
    const found = frames.read(offset, maxBytes);
    if (found !== undefined) return found;
    frames.advance();
  }
}

function readAll(frames: SharedFrames, maxBytes = 10_000): Buffer {
  const parts: Uint8Array[] = [];
  for (let offset = 0; ; offset += maxBytes) {
    const { bytes, isLast } = readAt(frames, offset, maxBytes);
    parts.push(bytes);
    if (isLast) return Buffer.concat(parts);
  }
}

describe('the frames of a transfer', () => {
  test('have the rows of all tables as a checkpoint file has them, and none of the own part', () => {
    const bytes = readAll(new SharedFrames(commit, HEADER));
    const { checkpoint, commits, damage, contained } = readCheckpoint(bytes, FILE);
    expect({ commits, damage, contained }).toEqual({
      commits: 1,
      damage: undefined,
      contained: { local: 0, red: 7 },
    });
    expect(checkpoint?.smallParts).toEqual(SMALL_PARTS.shared);
    expect(Object.keys(checkpoint?.sections ?? {})).toEqual(['rows']);
    const restored = new Store(TABLES);
    restored.restore(checkpoint?.sections['rows'] as Map<string, unknown>);
    expect(restored.snapshot()).toEqual(site.plain.snapshot());
    expect(restored.getRemovalTimes()).toEqual(site.plain.getRemovalTimes());
    expect([...decodeFrames(bytes, FILE)].length).toBeGreaterThan(5);
  });

  test('are the same each time, in any order, while others are committed', () => {
    const bytes = readAll(new SharedFrames(commit, HEADER), 300_000);
    for (let step = 0; step < 50; step += 1) site.change();
    site.commit();
    const frames = new SharedFrames(commit, HEADER);
    const random = new Random(3);
    for (let read = 0; read < 100; read += 1) {
      const offset = random.between(0, bytes.length);
      const found = readAt(frames, offset, 20_000);
      expect(found.isLast).toBe(offset + 20_000 >= bytes.length);
      expect(bytes.compare(found.bytes, 0, undefined, offset, offset + found.bytes.length)).toBe(0);
      expect(found.bytes.length).toBe(Math.min(20_000, bytes.length - offset));
    }
  });

  test('are estimated by some rows of each table', () => {
    const { length } = readAll(new SharedFrames(commit, HEADER));
    const estimated = estimateTransferBytes(commit);
    expect(estimated).toBeGreaterThan(length / 2);
    expect(estimated).toBeLessThan(length * 2);
  });
});
