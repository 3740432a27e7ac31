/** Without the package of LevelDB, a start is refused before anything is created. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openTemporaryStore } from '../../../../../../src/server/node/commands/copied-rows.ts';
import {
  createEmbedded,
  openEmbedded,
} from '../../../../../../src/server/node/embedded/embedded.ts';
import { serveCluster } from '../../../../../../src/server/serve-cluster.ts';
import { keyValueService } from '../../../../../../src/server/index.ts';
import { temporaryFolder } from '../../../../../support/temporary-folder.ts';

vi.mock(
  import('../../../../../../src/server/node/storage/rows/level-database.ts'),
  async (load) => {
    const original = await load();
    const missing = Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' });
    const requireLevel = (): Promise<void> => original.requireLevel(() => Promise.reject(missing));
    return { ...original, requireLevel };
  },
);

const isRefused = expect.objectContaining({
  code: 'INVALID_ARGUMENT',
  field: 'dataDir',
  message: expect.stringMatching(
    /Nothing was changed\. Run npm install classic-level@3.*--ephemeral/,
  ),
});

test('openEmbedded → the error names the package, and no directory is made', async () => {
  const folder = temporaryFolder();
  const opened = openEmbedded(keyValueService, { sites: ['a'], dataDir: join(folder, 'data') });
  await expect(opened).rejects.toEqual(isRefused);
  expect(readdirSync(folder)).toEqual([]);
});

test('serveCluster → refused before it waits for other sites', async () => {
  const folder = temporaryFolder();
  const cluster = join(folder, 'cluster.json');
  writeFileSync(cluster, '{}');
  const dataDir = join(folder, 'data');
  const served = serveCluster({ service: keyValueService, cluster, site: 'a', dataDir });
  await expect(served).rejects.toEqual(isRefused);
  expect(readdirSync(folder)).toEqual(['cluster.json']);
});

test('a command that reads rows → the same error, and no temporary folder', async () => {
  const folder = temporaryFolder();
  vi.stubEnv('TMPDIR', folder);
  await expect(openTemporaryStore()).rejects.toEqual(isRefused);
  vi.unstubAllEnvs();
  expect(readdirSync(folder)).toEqual([]);
});

test('createEmbedded needs no package', async () => {
  await createEmbedded(keyValueService, { sites: ['a'] }).close();
});
