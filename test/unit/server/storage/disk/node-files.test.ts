/** A real disk: which writes the calling thread makes itself, and what goes on in the background. */
import fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openDataFolder } from '../../../../../src/server/storage/folder/data-folder.ts';
import type { SyncedFile } from '../../../../../src/server/storage/disk/files.ts';
import { NodeFiles } from '../../../../../src/server/storage/disk/node-files.ts';
import { notesService } from '../notes-service.ts';

const SMALL = new Uint8Array(100).fill(7);
const LARGE = new Uint8Array(4000).fill(8);

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'correctables-files-'));
  return () => rm(root, { recursive: true });
});

/** Whether a write has ended when the call returns, and what it ended with. */
function write(
  file: SyncedFile,
  bytes: Uint8Array,
  position = 0,
  mayBlock = true,
): Promise<{ inThread: boolean; error?: Error }> {
  return new Promise((resolve) => {
    let hasReturned = false;
    const done = (error?: Error): void => resolve({ inThread: !hasReturned, ...(error && { error }) });
    file.write(bytes, position, done, mayBlock);
    hasReturned = true;
  });
}

const HERE = { inThread: true };
const ELSEWHERE = { inThread: false };

describe('small writes of callers that may be held up', () => {
  /** What each write takes by the clock that the files are given. */
  let takesMs = 0;
  let readings = 0;
  const now = (): number => takesMs * readings++;
  beforeEach(() => {
    takesMs = 0.2;
    readings = 0;
  });
  const open = (): SyncedFile => new NodeFiles(root, now).createNow('log', 10_000);

  test('a small block on a quick disk → written when the call returns; a larger one → not', async () => {
    const file = open();
    expect(await write(file, SMALL, 5)).toEqual(HERE);
    expect(await write(file, LARGE, 200)).toEqual(ELSEWHERE);
    const found = fs.readFileSync(join(root, 'log'));
    expect(found.subarray(5, 105)).toEqual(Buffer.from(SMALL));
    expect(found.subarray(200, 4200)).toEqual(Buffer.from(LARGE));
    file.close();
  });

  test('another write is under way → not', async () => {
    const file = open();
    const large = write(file, LARGE);
    expect(await write(file, SMALL, 5000)).toEqual(ELSEWHERE);
    expect(await large).toEqual(ELSEWHERE);
    expect(await write(file, SMALL, 6000)).toEqual(HERE);
    file.close();
  });

  test('a disk that was slow → not until it has been quick for a while, in the next file too', async () => {
    const files = new NodeFiles(root, now);
    const file = files.createNow('log', 10_000);
    takesMs = 5;
    readings = 0;
    expect(await write(file, SMALL)).toEqual(HERE);
    takesMs = 0.2;
    readings = 0;
    const next = files.createNow('next', 10_000);
    let elsewhere = 0;
    while (!(await write(next, SMALL)).inThread) elsewhere += 1;
    // 0.9 ** 16 of 5 ms are less than 1.
    expect(elsewhere).toBe(16);
    file.close();
    next.close();
  });

  test('a write that fails → the error, as any other', async () => {
    const file = open();
    const { inThread, error } = await write(file, SMALL, 2 ** 52);
    expect({ inThread, code: (error as NodeJS.ErrnoException).code }).toEqual({ inThread: true, code: 'EFBIG' });
    file.close();
  });

  test('a caller that may not be → none', async () => {
    const file = open();
    expect(await write(file, SMALL, 0, false)).toEqual(ELSEWHERE);
    file.close();
  });
});

/** The flags with which this process has a file open. */
function flagsOf(path: string): number {
  const descriptor = fs.readdirSync('/proc/self/fd').find((each) => linkOf(each) === fs.realpathSync(path));
  const flags = /^flags:\s+(\d+)/m.exec(fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
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

describe.runIf(fs.existsSync('/proc/self/fdinfo'))('what the system is told of a file', () => {
  const { O_DSYNC } = fs.constants;

  test('made now or in the background → each write is on the disk when it ends (O_DSYNC), for nobody else (0600)', async () => {
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

describe('files that are made and removed in the background', () => {
  test('a name that is taken → EEXIST, and the file that has it stays', async () => {
    const files = new NodeFiles(root);
    files.createNow('log', 100).close();
    const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => files.create('log', 100, resolve));
    expect(error?.code).toBe('EEXIST');
    expect(files.list('.')).toEqual(['log']);
  });

  test('several removed → one after the other, in the order in which that was asked for', async () => {
    const files = new NodeFiles(root);
    const ends: (() => void)[] = [];
    const removal = vi.spyOn(fs.promises, 'rm').mockImplementation(() => new Promise((resolve) => ends.push(resolve)));
    onTestFinished(() => removal.mockRestore());
    for (const name of ['1', '2', '3']) files.remove(name);
    for (const name of ['1', '2', '3']) {
      await vi.waitFor(() => expect(ends).toHaveLength(1));
      expect(removal).toHaveBeenLastCalledWith(join(root, name), { force: true });
      ends.pop()?.();
    }
    await files.settled();
    expect(removal).toHaveBeenCalledTimes(3);
  });

  test('a data folder is closed → not let go of before they are', async () => {
    const deployment = { service: notesService(), sites: ['irl'], redLeader: 'irl' };
    const folder = openDataFolder(root, deployment);
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
