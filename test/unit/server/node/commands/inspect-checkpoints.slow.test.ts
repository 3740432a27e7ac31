/** A data directory that is inspected while its sites make one checkpoint after the other. */
// @rule STO-25
import { expect, test } from 'vitest';
import { createClient } from '../../../../../src/index.ts';
import { put } from '../../../../../src/operations/index.ts';
import { openEmbedded } from '../../../../../src/server/node/embedded/embedded.ts';
import { inspectDataDirectory } from '../../../../../src/server/node/commands/inspect-directory.ts';
import { valuesService } from '../storage/notes-service.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const MIB = 2 ** 20;
const SITES = ['ireland', 'frankfurt'] as const;
/** With so little memory, sites make a checkpoint whenever they have written a mebibyte. */
const MEMORY_BYTES = 128 * MIB;
const INSPECTIONS = 60;
const KEYS = 500;

test('sites that make checkpoints all the time → no inspection finds a loss', async () => {
  const dataDir = temporaryFolder();
  const embedded = await openEmbedded(valuesService(), {
    sites: SITES,
    dataDir,
    memoryBytes: MEMORY_BYTES,
    checkColors: false,
    onAlarm: () => {},
  });
  const client = createClient(embedded.site('ireland'));
  const stop = new AbortController();
  const writeAll = async (writer: number): Promise<void> => {
    for (let write = 0; !stop.signal.aborted; write += 1)
      await client.invoke(put(`${writer} ${write % KEYS}`, `${write} ${'x'.repeat(20_000)}`));
  };
  const writing = Promise.all(Array.from({ length: 8 }, (_, writer) => writeAll(writer)));
  const commits = new Set<number>();
  for (let inspection = 0; inspection < INSPECTIONS; inspection += 1) {
    const { sites, startError } = await inspectDataDirectory(dataDir);
    expect(startError).toBe(null);
    for (const site of sites) expect(site).toMatchObject({ startError: null, damages: [] });
    commits.add(sites[0]?.rows.commit?.number ?? 0);
  }
  stop.abort();
  await writing;
  await embedded.close();
  expect(commits.size).toBeGreaterThan(3);
});
