/** Writes to a real disk: which of them the calling thread makes itself. */
import fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openDataFolder } from '../../../src/server/storage/data-folder.ts';
import type { SyncedFile } from '../../../src/server/storage/files.ts';
import { NodeFiles } from '../../../src/server/storage/node-files.ts';
import { bankService } from '../redblue/services.ts';

const SMALL = new Uint8Array(100).fill(7);
const LARGE = new Uint8Array(4000).fill(8);

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'correctables-files-'));
  return () => rm(root, { recursive: true });
});

/** Whether a write has ended when the call returns, and what it ended with. */
function write(file: SyncedFile, bytes: Uint8Array, position = 0): Promise<{ inThread: boolean; error?: Error }> {
  return new Promise((resolve) => {
    let hasReturned = false;
    file.write(bytes, position, (error) => resolve({ inThread: !hasReturned, ...(error && { error }) }));
    hasReturned = true;
  });
}

const HERE = { inThread: true };
const ELSEWHERE = { inThread: false };

describe('small writes in the thread', () => {
  /** What each write takes by the clock that the files are given. */
  let takesMs = 0;
  let readings = 0;
  const now = (): number => takesMs * readings++;
  beforeEach(() => {
    takesMs = 0.2;
    readings = 0;
  });
  const open = (): SyncedFile => new NodeFiles(root, { writesSmallInThread: true, now }).createNow('log', 10_000);

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
    const files = new NodeFiles(root, { writesSmallInThread: true, now });
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

  test('not asked for → no write in the thread', async () => {
    const file = new NodeFiles(root).createNow('log', 10_000);
    expect(await write(file, SMALL)).toEqual(ELSEWHERE);
    file.close();
  });
});

test('a data folder: small writes in the thread for one site, not for several, whose disks would wait for each other', async () => {
  const inThread = [];
  for (const sites of [['here'], ['here', 'there']]) {
    const deployment = { service: bankService(), sites, redLeader: 'here' };
    const folder = openDataFolder(join(root, sites.join('-')), deployment);
    const file = folder.files.createNow('log', 10_000);
    inThread.push((await write(file, SMALL)).inThread);
    file.close();
    folder.close();
  }
  expect(inThread).toEqual([true, false]);
});
