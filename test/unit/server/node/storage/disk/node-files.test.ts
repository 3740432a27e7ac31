/** A real disk: which flags files are opened with, and what goes on in the background. */
// @rule STO-1
import fs from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openDataDirectory } from '../../../../../../src/server/node/storage/directory/data-directory.ts';
import type { SyncedFile } from '../../../../../../src/server/node/storage/disk/files.ts';
import { NodeFiles } from '../../../../../../src/server/node/storage/disk/node-files.ts';
import { notesService } from '../notes-service.ts';
import { temporaryFolder } from '../../../../../support/temporary-folder.ts';

let root: string;
beforeEach(() => void (root = temporaryFolder()));

/** The flags with which this process has a file open. */
function flagsOf(path: string): number {
  const descriptor = fs
    .readdirSync('/proc/self/fd')
    .find((item) => linkOf(item) === fs.realpathSync(path));
  const flags = /^flags:\s+(\d+)/m.exec(
    fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'),
  )?.[1];
  return Number.parseInt(flags ?? '', 8);
}

function linkOf(descriptor: string): string | undefined {
  try {
    return fs.readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    // The folder itself was among them while it was read.
    return undefined;
  }
}

describe.runIf(fs.existsSync('/proc/self/fdinfo'))('the flags that a file is opened with', () => {
  const { O_DSYNC } = fs.constants;

  test('created now or in the background → each write is on the disk when it ends (O_DSYNC), and only the owner has access (0600)', async () => {
    const files = new NodeFiles(root);
    const now = files.createNow('now', 1000);
    const later = await new Promise<SyncedFile | undefined>((resolve) =>
      files.create('later', 1000, (_error, file) => resolve(file)),
    );
    for (const name of ['now', 'later']) {
      expect(flagsOf(join(root, name)) & O_DSYNC).toBe(O_DSYNC);
      expect(fs.statSync(join(root, name)).mode & 0o777).toBe(0o600);
    }
    now.close();
    later?.close();
  });
});

describe('directories', () => {
  test('moved to where there is an empty one, or none → all that is in it is there', () => {
    const files = new NodeFiles(root);
    for (const path of ['incoming', 'incoming/site', 'site']) files.makeDirectory(path);
    files.replace('incoming/site/log', Buffer.of(1, 2, 3));
    files.moveDirectory('incoming/site', 'site');
    files.moveDirectory('site', 'sites/ireland');
    expect(files.readPart('sites/ireland/log', 1, 10)).toEqual(Buffer.of(2, 3));
    expect(files.readPart('sites/ireland/log', 3, 10)).toHaveLength(0);
    files.removeNow('sites');
    expect(files.list('.')).toEqual(['incoming']);
  });
});

describe('files that are made and removed in the background', () => {
  test('a name that is taken → EEXIST, and the file that has it stays', async () => {
    const files = new NodeFiles(root);
    files.createNow('log', 100).close();
    const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) =>
      files.create('log', 100, resolve),
    );
    expect(error?.code).toBe('EEXIST');
    expect(files.list('.')).toEqual(['log']);
  });

  test('the disk takes a few bytes at a time → all are written, each in its place, before the write is reported', async () => {
    const file = new NodeFiles(root).createNow('log', 16);
    onTestFinished(() => file.close());
    const { write } = fs;
    const few = vi
      .spyOn(fs, 'write')
      .mockImplementation(((
        descriptor: number,
        bytes: Uint8Array,
        start: number,
        length: number,
        ...rest: [number, () => void]
      ) => write(descriptor, bytes, start, Math.min(length, 3), ...rest)) as never);
    onTestFinished(() => few.mockRestore());
    const bytes = Uint8Array.from({ length: 10 }, (_, at) => at + 1);
    await new Promise<void>((resolve, reject) => {
      file.write(bytes, 4, (error) => (error === undefined ? resolve() : reject(error)));
    });
    expect(few).toHaveBeenCalledTimes(4);
    expect([...fs.readFileSync(join(root, 'log'))]).toEqual([0, 0, 0, 0, ...bytes, 0, 0]);
  });

  test('several removed → one after the other, in the order in which that was asked for', async () => {
    const files = new NodeFiles(root);
    const ends: (() => void)[] = [];
    const removal = vi
      .spyOn(fs.promises, 'rm')
      .mockImplementation(() => new Promise((resolve) => ends.push(resolve)));
    onTestFinished(() => removal.mockRestore());
    for (const name of ['1', '2', '3']) files.remove(name);
    for (const name of ['1', '2', '3']) {
      await vi.waitFor(() => expect(ends).toHaveLength(1));
      expect(removal).toHaveBeenLastCalledWith(join(root, name), { force: true });
      ends.pop()?.();
    }
    await files.whenIdle();
    expect(removal).toHaveBeenCalledTimes(3);
  });

  test('a data directory is closed → not let go of before they are', async () => {
    const deployment = { service: notesService(), sites: ['ireland'], redLeader: 'ireland' };
    const folder = openDataDirectory(root, deployment);
    const { files } = folder;
    files.createNow('old', 1000).close();
    files.remove('old');
    files.create('new', 1000, (_error, file) => {
      file?.close();
      // Once the first is made, another one is begun.
      files.create('newer', 1000, (_newerError, newer) => newer?.close());
    });
    await folder.close();
    const names = files.list('.');
    expect(names).toEqual(expect.arrayContaining(['new', 'newer']));
    expect(names).not.toContain('old');
    expect(names).not.toContain('lock');
  });
});

describe('two writes of a file in flight', () => {
  /** Holds writes back. Like Linux, reports an error of the disk once to each descriptor. */
  function holdWrites(): {
    readonly ends: ((isLost?: boolean) => void)[];
    readonly descriptors: number[];
  } {
    const ends: ((isLost?: boolean) => void)[] = [];
    const descriptors: number[] = [];
    const reported = new Set<number>();
    let hasLost = false;
    const write = vi.spyOn(fs, 'write') as unknown as ReturnType<typeof vi.fn>;
    onTestFinished(() => write.mockRestore());
    write.mockImplementation(
      (descriptor: number, _bytes, _start, length: number, _position, done) => {
        descriptors.push(descriptor);
        ends.push((isLost = false) => {
          hasLost ||= isLost;
          const isTold = hasLost && !reported.has(descriptor);
          if (isTold) reported.add(descriptor);
          (done as (error: Error | null, written: number) => void)(
            isTold ? new Error('EIO') : null,
            length,
          );
        });
      },
    );
    return { ends, descriptors };
  }

  const begin = (file: SyncedFile, outcomes: (string | undefined)[], position: number): void =>
    file.write(new Uint8Array(10), position, (error) => outcomes.push(error?.message));

  test('the disk loses one, and the other ends first → neither counts', () => {
    const file = new NodeFiles(root).createNow('log', 1000);
    const { ends } = holdWrites();
    const outcomes: (string | undefined)[] = [];
    begin(file, outcomes, 0);
    begin(file, outcomes, 10);
    ends[1]?.(true);
    ends[0]?.();
    expect(outcomes).toEqual(['EIO', 'EIO']);
    file.close();
  });

  test('there is no further descriptor → the second write waits for the first', () => {
    const file = new NodeFiles(root).createNow('log', 1000);
    const { ends, descriptors } = holdWrites();
    const outcomes: (string | undefined)[] = [];
    const openFile = vi.spyOn(fs, 'openSync').mockImplementation(() => {
      throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' });
    });
    onTestFinished(() => openFile.mockRestore());
    begin(file, outcomes, 0);
    begin(file, outcomes, 10);
    file.close();
    expect(ends).toHaveLength(1);
    ends[0]?.();
    ends[1]?.();
    expect(outcomes).toEqual([undefined, undefined]);
    expect(new Set(descriptors).size).toBe(1);
  });
});

describe.runIf(fs.constants.O_DSYNC !== undefined)('a write for which the thread may wait', () => {
  /** Whether such a write is done on return, after one that took so long. */
  async function isDoneOnReturn(lastWriteMs: number): Promise<boolean> {
    const file = new NodeFiles(root).createNow('log', 1000);
    const now = vi
      .spyOn(performance, 'now')
      .mockReturnValueOnce(0)
      .mockReturnValueOnce(lastWriteMs);
    onTestFinished(() => now.mockRestore());
    await new Promise((resolve) => file.write(Buffer.of(1), 0, resolve, true));
    let isDone = false;
    const done = new Promise<Error | undefined>((resolve) => {
      const ended = (error: Error | undefined): void => {
        isDone = true;
        resolve(error);
      };
      file.write(Buffer.of(2, 3), 1, ended, true);
    });
    const wasDone = isDone;
    expect(await done).toBeUndefined();
    file.close();
    expect([...fs.readFileSync(join(root, 'log')).subarray(0, 4)]).toEqual([1, 2, 3, 0]);
    return wasDone;
  }

  test('the disk took less than 1 ms last time → done on return', async () => {
    expect(await isDoneOnReturn(0.9)).toBe(true);
  });

  test('it took longer → another thread waits for it', async () => {
    expect(await isDoneOnReturn(1.1)).toBe(false);
  });
});
