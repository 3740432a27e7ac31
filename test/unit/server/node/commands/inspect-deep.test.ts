/** A data directory of which all rows are read. A start reads only some of them. */
// @rule STO-16
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createClient, type Client } from 'correctables';
import {
  inspectDataDirectory,
  type Inspection,
  type InspectOptions,
} from '../../../../../src/server/node/commands/inspect-directory.ts';
import { openEmbedded } from '../../../../../src/server/index.ts';
import { LevelRowStore } from '../../../../../src/server/node/storage/rows/level-row-store.ts';
import { getRowKey } from '../../../../../src/server/node/storage/rows/saved-state.ts';
import type { Service } from '../../../../../src/server/service/service.ts';
import { formatRowName } from '../../../../../src/server/service/state/saved-names.ts';
import { commit } from '../../../../row-stores/commit.ts';
import { allKindsContract, service as allKinds } from '../../../../support/all-kinds-service.ts';
import { service as rowsService } from '../../../../support/rows-service.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const { visit, order } = allKindsContract;
const service = allKinds as unknown as Service;
/** With so little memory, a site makes a checkpoint whenever it has written some mebibytes. */
const MEMORY_BYTES = 256 * 2 ** 20;

let dataDir: string;
beforeEach(() => {
  dataDir = temporaryFolder();
});

async function inspectRows(options: InspectOptions): Promise<Inspection['sites'][number]> {
  const { sites, startError } = await inspectDataDirectory(dataDir, options);
  expect(startError).toBe(null);
  return sites[0] as Inspection['sites'][number];
}

/** Writes rows until they are in a checkpoint. */
async function writeRows(): Promise<void> {
  const embedded = await openEmbedded(service, {
    sites: ['ireland'],
    checkColors: false,
    memoryBytes: MEMORY_BYTES,
    dataDir,
  });
  const client = createClient(embedded.site('ireland')) as unknown as Client<never>;
  await client.invoke(order({ key: 'shop', item: 'tea' }));
  for (let at = 0; (await inspectRows({})).rows.commit === null; at += 1)
    await client.invoke(visit({ key: `guest-${at}`, tag: 't', profile: 'x'.repeat(200_000) }));
  await embedded.close();
}

test('rows that are whole → no problem, with and without the service', async () => {
  await writeRows();
  for (const options of [{ isDeep: true }, { isDeep: true, service }])
    expect(await inspectRows(options)).toMatchObject({
      startError: null,
      rowsCheck: { problems: [], problemCount: 0 },
    });
  expect(await inspectRows({ service })).toMatchObject({ rowsCheck: null });
});

test('a row that the store has lost → reported, although a start does not notice it', async () => {
  await writeRows();
  const store = await LevelRowStore.open(join(dataDir, 'sites/ireland/rows'));
  const lost = getRowKey('rows', formatRowName('guests', 'guest-0'));
  await commit(store, { puts: [], removals: [lost] });
  await store.close();
  expect(await inspectRows({ isDeep: true })).toMatchObject({
    startError: null,
    rowsCheck: { problems: [expect.stringContaining('"guest-0"')], problemCount: 1 },
  });
});

test('the service of other data → INVALID_ARGUMENT', async () => {
  await writeRows();
  const options = { isDeep: true, service: rowsService as unknown as Service };
  await expect(inspectDataDirectory(dataDir, options)).rejects.toThrow(
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining("belongs to the service 'all-kinds', not 'rows'"),
    }),
  );
});

test('no checkpoint → nothing to check', async () => {
  const embedded = await openEmbedded(service, {
    sites: ['ireland'],
    checkColors: false,
    dataDir,
  });
  await embedded.close();
  expect(await inspectRows({ isDeep: true })).toMatchObject({
    rows: { commit: null },
    rowsCheck: null,
  });
});
