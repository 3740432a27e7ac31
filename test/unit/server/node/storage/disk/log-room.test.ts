/** Log files leave room for checkpoints on a disk that others fill. */
// @rule STO-11
import fs from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { keepLogRoom } from '../../../../../../src/server/node/storage/disk/log-room.ts';
import type { Files } from '../../../../../../src/server/node/storage/disk/files.ts';
import { temporaryFolder } from '../../../../../support/temporary-folder.ts';

const MIB = 2 ** 20;

/** Creates a file of 8 MiB on a disk with so much free space. Returns the error, if any. */
async function create(freeBytes: number, diskBytes: number): Promise<Error | undefined> {
  const found = { bsize: 4096, bavail: freeBytes / 4096, blocks: diskBytes / 4096 };
  const asked = vi.spyOn(fs, 'statfsSync').mockReturnValue(found as never);
  onTestFinished(() => asked.mockRestore());
  const created: Partial<Files> = { create: (_path, _sizeBytes, done) => done(undefined) };
  const files = keepLogRoom(created as Files, temporaryFolder());
  return new Promise((resolve) => files.create('sites/a/1.log', 8 * MIB, resolve));
}

test.each([
  ['136 MiB of a large one', 136 * MIB, 1000 * MIB, undefined],
  ['less of a large one', 135 * MIB, 1000 * MIB, 'ENOSPC'],
  ['a quarter and a file of a small one', 33 * MIB, 100 * MIB, undefined],
  ['less of a small one', 32 * MIB, 100 * MIB, 'ENOSPC'],
])('a disk with %s left', async (_, freeBytes, diskBytes, code) => {
  const error = await create(freeBytes, diskBytes);
  expect(error && 'code' in error && error.code).toBe(code);
});
