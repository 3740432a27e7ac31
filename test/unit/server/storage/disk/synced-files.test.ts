/** What is written to a log file is on the disk when the write is done: the file is open with `O_DSYNC`. */
import fs from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { NodeFiles } from '../../../../../src/server/storage/disk/node-files.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

let root: string;
beforeEach(() => void (root = temporaryFolder()));

/** The flags of the descriptors that this process has of a file, as Linux reports them. */
function flagsOf(path: string): number[] {
  return fs.readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      if (fs.readlinkSync(`/proc/self/fd/${descriptor}`) !== fs.realpathSync(path)) return [];
      const info = fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
      return [Number.parseInt(/flags:\s*(\d+)/.exec(info)?.[1] ?? '', 8)];
    } catch {
      // The one that the folder itself was read by is closed again.
      return [];
    }
  });
}

describe.skipIf(process.platform !== 'linux')('files that are written in place', () => {
  const { O_DSYNC } = fs.constants;

  test('made by the calling thread → open with O_DSYNC', () => {
    const file = new NodeFiles(root).createNow('log', 4096);
    expect(flagsOf(join(root, 'log')).map((flags) => flags & O_DSYNC)).toEqual([O_DSYNC]);
    file.close();
  });

  test('made in the background → open with O_DSYNC', async () => {
    const files = new NodeFiles(root);
    const file = await new Promise<{ close(): void } | undefined>((resolve) => {
      files.create('log', 4096, (_error, made) => resolve(made));
    });
    expect(flagsOf(join(root, 'log')).map((flags) => flags & O_DSYNC)).toEqual([O_DSYNC]);
    file?.close();
    await files.whenIdle();
  });
});
