/** The commands on a directory of the version before, which no start has converted yet. */
// @rule STO-44
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { backUpDataDirectory } from '../../../../../src/server/node/commands/back-up-directory.ts';
import { inspectDataDirectory } from '../../../../../src/server/node/commands/inspect-directory.ts';
import { readStoredSite } from '../../../../../src/server/node/commands/read-data.ts';
import { openEmbedded } from '../../../../../src/server/index.ts';
import type { Service } from '../../../../../src/server/service/service.ts';
import { service as allKinds } from '../../../../support/all-kinds-service.ts';
import { readOldDirectory } from '../../../../support/checkpoint-files.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const service = allKinds as unknown as Service;
const { files, expected } = readOldDirectory();
const SITES = Object.keys(expected) as [string, ...string[]];

let dataDir: string;
beforeEach(() => {
  dataDir = join(temporaryFolder(), 'data');
  for (const [name, bytes] of files) {
    mkdirSync(dirname(join(dataDir, name)), { recursive: true });
    writeFileSync(join(dataDir, name), bytes);
  }
});

const photograph = (): readonly string[] =>
  readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'base64'));

async function start(directory: string): Promise<void> {
  const { partitions = [] } = JSON.parse(
    readFileSync(join(directory, 'manifest.json'), 'utf8'),
  ) as {
    partitions?: readonly { readonly name: string; readonly leader: string }[];
  };
  const layouts = partitions.map(({ name, leader }) => [name, { leader }] as const);
  const embedded = await openEmbedded(service, {
    sites: SITES,
    partitions: Object.fromEntries(layouts),
    checkColors: false,
    onAlarm: () => {},
    dataDir: directory,
  });
  await embedded.close();
}

/** Returns all rows of a site. */
async function readRows(directory: string, site: string): Promise<unknown> {
  const { rows, close } = await readStoredSite({ dataDir: directory, site, service });
  const found = Object.keys(service.tables).map((table) => [table, [...rows.scan(table)]]);
  await close();
  return found;
}

test('inspect → where its sites would start, and that its rows are not converted', async () => {
  const before = photograph();
  const { sites, startError } = await inspectDataDirectory(dataDir, { isDeep: true });
  expect(startError).toBe(null);
  for (const site of sites) {
    const { lastCheckpoint, lengths } = expected[site.name]!;
    const { file: number, ...contained } = lastCheckpoint;
    expect(site).toMatchObject({
      rows: { isConverted: false, commit: { number, contained } },
      lengths,
      startError: null,
      damages: [],
      rowsCheck: null,
    });
  }
  expect(photograph()).toEqual(before);
});

test('data → the rows that the site has once a start has converted it', async () => {
  const before = photograph();
  const found = await readRows(dataDir, SITES[0]);
  expect(photograph()).toEqual(before);
  await start(dataDir);
  expect(await readRows(dataDir, SITES[0])).toEqual(found);
  expect((await inspectDataDirectory(dataDir)).sites[0]?.rows.isConverted).toBe(true);
});

test('backup → a start of it converts the rows', async () => {
  const found = await readRows(dataDir, SITES[0]);
  const target = `${dataDir}-backup`;
  const { sites } = await backUpDataDirectory({ dataDir, target, isDeep: true });
  expect(sites.map(({ name, damages }) => [name, damages])).toEqual(
    SITES.map((name) => [name, []]),
  );
  await start(target);
  expect(await readRows(target, SITES[0])).toEqual(found);
});

test('one copy of a checkpoint is gone → reported, and no loss', async () => {
  rmSync(join(dataDir, `sites/${SITES[0]}/0000000001.checkpoint`));
  const { sites } = await inspectDataDirectory(dataDir);
  expect(sites[0]).toMatchObject({
    startError: null,
    damages: [expect.stringContaining('0000000001.checkpoint is gone')],
  });
});

test('the log behind a checkpoint is gone → refused', async () => {
  rmSync(join(dataDir, `sites/${SITES[0]}/0000000001.log`));
  const { sites } = await inspectDataDirectory(dataDir);
  expect(sites[0]?.startError).toMatch(/The data cannot be read: the local log ends at entry 0/);
  await expect(readRows(dataDir, SITES[0])).rejects.toThrow('The data cannot be read');
  const target = `${dataDir}-backup`;
  await expect(backUpDataDirectory({ dataDir, target })).rejects.toThrow('No backup was made');
});
