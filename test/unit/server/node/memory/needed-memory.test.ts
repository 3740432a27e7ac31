/** A start whose data does not fit into its memory: it fails at once, and says what it needs. */
// @rule STO-34
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createClient } from '../../../../../src/index.ts';
import { get, put } from '../../../../../src/operations/index.ts';
import { createEmbedded, type Embedded } from '../../../../../src/server/index.ts';
import { findSavedBytes, limitFiles } from '../../../../../src/server/node/memory/needed-memory.ts';
import { NodeFiles } from '../../../../../src/server/node/storage/disk/node-files.ts';
import {
  formatCommit,
  formatHeader,
  formatRow,
  formatRows,
} from '../../../../../src/server/node/storage/format/checkpoint-file.ts';
import { encodeFrame } from '../../../../../src/server/node/storage/format/frames.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import { valuesService } from '../storage/notes-service.ts';

const MIB = 2 ** 20;
const FOLDER = 'sites/ireland';
const TEXT = 'x'.repeat(8000);
const ROWS = 400;

let dataDir: string;
beforeEach(() => void (dataDir = temporaryFolder()));

function open(memoryBytes: number): Embedded {
  const sites = ['ireland', 'frankfurt'] as const;
  return createEmbedded(valuesService(), {
    sites,
    dataDir,
    memoryBytes,
    checkColors: false,
    onAlarm: () => {},
  });
}

async function fill(): Promise<void> {
  const deployment = open(100 * MIB);
  const client = createClient(deployment.site('ireland'));
  for (let row = 0; row < ROWS; row += 1) await client.invoke(put(`k${row}`, `${row} ${TEXT}`));
  await client.close();
  await deployment.close();
}

test('a start that does not fit fails with the memory that it needs, and changes nothing', async () => {
  await fill();
  const saved = findSavedBytes(new NodeFiles(dataDir), FOLDER);
  expect(saved).toBeGreaterThan(MIB);
  expect(saved).toBeLessThan(2 * ROWS * TEXT.length);
  expect(() => open(2 * MIB)).toThrow(
    expect.objectContaining({
      code: 'UNAVAILABLE',
      field: 'memoryBytes',
      retryable: false,
      message: expect.stringMatching(
        /^Site ireland cannot start: its data needs about \d+ MiB of memory, and it may use 1 MiB\. Nothing was changed\. Start it with --memory \d+m,/,
      ),
    }),
  );

  const deployment = open(200 * MIB);
  const client = createClient(deployment.site('frankfurt'));
  expect(await client.invoke(get(`k${ROWS - 1}`))).toBe(`${ROWS - 1} ${TEXT}`);
  await client.close();
  await deployment.close();
});

test('a checkpoint without a count is estimated by its rows', () => {
  const rows = Array.from({ length: 1000 }, (_, row) =>
    formatRow(['rows', `values\u0000k${row}`, [{ value: ['text', [1, 1, 1, 1]] }]]),
  );
  const positions = { local: 0, red: 0 };
  const commit = { smallParts: '{}', contained: positions, retainedFrom: positions, sum: 0 };
  const payloads = [formatHeader(), formatRows(rows), formatCommit([], commit)];
  mkdirSync(join(dataDir, FOLDER), { recursive: true });
  const write = (name: string, contents: readonly string[]): void => {
    const frames = contents.map((item, index) => encodeFrame(item, { file: 1, index }));
    writeFileSync(join(dataDir, FOLDER, name), Buffer.concat(frames));
  };
  write('0000000001.checkpoint', payloads);
  // It was not finished when the process ended.
  write('0000000002.checkpoint', payloads.slice(0, 2));
  const bytes = findSavedBytes(new NodeFiles(dataDir), FOLDER);
  // Less than it takes: the file of a site that fits may have each row three times.
  expect(bytes).toBeGreaterThan(100 * 1000);
  expect(bytes).toBeLessThan(300 * 1000);
});

test('a site with little memory has smaller log files, since a start reads them at once', () => {
  const sizeFor = (maxBytes: number) => limitFiles({ maxBytes, siteCount: 1 });
  expect(sizeFor(8 * 1024 * MIB)).toEqual(limitFiles(undefined));
  expect(sizeFor(256 * MIB)).toEqual({ segmentBytes: 2 * MIB, checkpointBytes: 2 * MIB });
  expect(sizeFor(MIB)).toEqual({ segmentBytes: MIB, checkpointBytes: MIB });
});
