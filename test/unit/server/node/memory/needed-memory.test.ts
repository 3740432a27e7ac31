/** A start whose data does not fit into its memory: it fails at once, and says what it needs. */
// @rule STO-34
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createClient } from '../../../../../src/index.ts';
import { get, put } from '../../../../../src/operations/index.ts';
import { openEmbedded, type Embedded } from '../../../../../src/server/index.ts';
import {
  findSavedBytes,
  limitFiles,
  measureNeededMemory,
} from '../../../../../src/server/node/memory/needed-memory.ts';
import { NodeFiles } from '../../../../../src/server/node/storage/disk/node-files.ts';
import { ROWS_FOLDER } from '../../../../../src/server/node/storage/format/file-names.ts';
import { LevelRowStore } from '../../../../../src/server/node/storage/rows/level-row-store.ts';
import type { RowReader } from '../../../../../src/server/node/storage/rows/row-store.ts';
import { readCut } from '../../../../../src/server/node/storage/rows/saved-state.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import { valuesService } from '../storage/notes-service.ts';

const MIB = 2 ** 20;
const FOLDER = 'sites/ireland';
const TEXT = 'x'.repeat(8000);
const ROWS = 400;

let dataDir: string;
beforeEach(() => void (dataDir = temporaryFolder()));

function open(memoryBytes: number): Promise<Embedded> {
  const sites = ['ireland', 'frankfurt'] as const;
  return openEmbedded(valuesService(), {
    sites,
    dataDir,
    memoryBytes,
    checkColors: false,
    onAlarm: () => {},
  });
}

async function fill(memoryBytes: number): Promise<void> {
  const deployment = await open(memoryBytes);
  const client = createClient(deployment.site('ireland'));
  for (let row = 0; row < ROWS; row += 1) await client.invoke(put(`k${row}`, `${row} ${TEXT}`));
  await client.close();
  await deployment.close();
}

test('a start that does not fit fails with the memory that it needs, and changes nothing', async () => {
  // With so much memory, no checkpoint was necessary, and a start reads the logs.
  await fill(1024 * MIB);
  await expect(open(2 * MIB)).rejects.toThrow(
    expect.objectContaining({
      code: 'UNAVAILABLE',
      field: 'memoryBytes',
      retryable: false,
      message: expect.stringMatching(
        /^Site ireland cannot start: its data needs about \d+ MiB of memory, and it may use 1 MiB\. Nothing was changed\. Start it with --memory \d+m,/,
      ),
    }),
  );

  const deployment = await open(200 * MIB);
  const client = createClient(deployment.site('frankfurt'));
  expect(await client.invoke(get(`k${ROWS - 1}`))).toBe(`${ROWS - 1} ${TEXT}`);
  await client.close();
  await deployment.close();
});

test('rows that a checkpoint has are not counted, since a start reads none of them', async () => {
  await fill(100 * MIB);
  const store = await LevelRowStore.open(join(dataDir, FOLDER, ROWS_FOLDER));
  expect(readCut(store)).toBeDefined();
  expect(findSavedBytes(store)).toBeLessThan((ROWS * TEXT.length) / 10);
  await store.close();
});

test('a store without a commit needs no memory; a damaged one is refused', async () => {
  await mkdir(join(dataDir, FOLDER), { recursive: true });
  const measure = (rows: RowReader): number =>
    measureNeededMemory({ files: new NodeFiles(dataDir), directory: FOLDER, rows });
  expect(measure({ get: () => undefined })).toBe(0);
  const damaged = { get: () => Buffer.from('damaged') };
  expect(() => measure(damaged)).toThrow(
    expect.objectContaining({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/sites\/ireland\/rows: the entry \w+ is damaged/),
    }),
  );
});

test('a site with little memory has smaller log files, since a start reads them at once', () => {
  const sizeFor = (maxBytes: number) => limitFiles({ maxBytes, cacheBytes: 0, siteCount: 1 });
  expect(sizeFor(8 * 1024 * MIB)).toEqual(limitFiles(undefined));
  expect(sizeFor(256 * MIB)).toEqual({ segmentBytes: 2 * MIB, checkpointBytes: 2 * MIB });
  expect(sizeFor(MIB)).toEqual({ segmentBytes: MIB, checkpointBytes: MIB });
});
