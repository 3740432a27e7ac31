/** When the thread may wait for a write of the log itself. */
// @rule STO-2
import { expect, test } from 'vitest';
import type { Files, SyncedFile } from '../../../../../src/server/node/storage/disk/files.ts';
import { SegmentLog } from '../../../../../src/server/node/storage/segment-log.ts';

/** Whether the thread may wait for each of the groups that have so many entries. */
function mayBlock(groups: readonly number[]): readonly (boolean | undefined)[] {
  const answers: (boolean | undefined)[] = [];
  const file: SyncedFile = {
    write(_bytes, _position, done, allowed) {
      answers.push(allowed);
      done(undefined);
    },
    close() {},
  };
  const now = (run: () => void): void => run();
  const log = new SegmentLog({
    files: { createNow: () => file } as unknown as Files,
    timing: { soon: now, later: now, afterMs: () => {} },
    directory: 'site',
    number: 1,
    lengths: { local: 0, red: 0 },
    segments: [],
    segmentBytes: 1 << 20,
    largeGroup: 256,
    listener: { onSynced() {}, onFenced() {}, onFailed() {} },
    lastCheckpoint: () => undefined,
    onFullChanged() {},
  });
  log.takeOver();
  for (const size of groups) log.append('local', Array<string>(size).fill('entry'));
  return answers;
}

test('groups of one entry, as one client makes that waits for each answer → it may, after some of them', () => {
  expect(mayBlock(Array<number>(10).fill(1))).toEqual([
    ...Array<boolean>(8).fill(false),
    true,
    true,
  ]);
});

test('groups that differ, or are large → another thread waits, and the site goes on', () => {
  const various = Array.from({ length: 20 }, (_, n) => 1 + (n % 3));
  for (const groups of [various, Array<number>(20).fill(8)])
    expect(mayBlock(groups)).not.toContain(true);
});
