/**
 * A data folder that is inspected while a process is working in it: nothing is taken for lost that
 * only moved on.
 */
// @rule STO-25
import { cpSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { createClient } from '../../../../../src/index.ts';
import { get, put } from '../../../../../src/operations/index.ts';
import { openEmbedded } from '../../../../../src/server/node/embedded/embedded.ts';
import { inspectDataDirectory } from '../../../../../src/server/node/commands/inspect-directory.ts';
import { NodeFiles } from '../../../../../src/server/node/storage/disk/node-files.ts';
import { valuesService } from '../storage/notes-service.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const SITES = ['ireland', 'frankfurt'] as const;
let dataDir: string;
beforeEach(() => {
  dataDir = temporaryFolder();
  return () => {
    vi.restoreAllMocks();
  };
});

const pathOf = (name: string): string => join(dataDir, name);

async function work(value: string): Promise<void> {
  const embedded = await openEmbedded(valuesService(), {
    sites: SITES,
    dataDir,
    onAlarm: () => {},
  });
  await createClient(embedded.site('ireland')).invoke(put('k', value));
  const frankfurt = createClient(embedded.site('frankfurt'));
  await expect.poll(() => frankfurt.invokeWeak(get('k'))).toBe(value);
  await embedded.close();
}

test('the second site is newer than the first when it is opened → both are inspected as they are then', async () => {
  await work('first');
  cpSync(pathOf('sites'), pathOf('before'), { recursive: true });
  await work('second');
  renameSync(pathOf('sites'), pathOf('after'));
  renameSync(pathOf('before'), pathOf('sites'));
  const { list } = NodeFiles.prototype;
  let isOlder = true;
  vi.spyOn(NodeFiles.prototype, 'list').mockImplementation(function (this: NodeFiles, folder) {
    const isSecond = folder === 'sites/frankfurt';
    if (isSecond && isOlder) cpSync(pathOf('after'), pathOf('sites'), { recursive: true });
    isOlder &&= !isSecond;
    return list.call(this, folder);
  });
  expect((await inspectDataDirectory(dataDir)).startError).toBe(null);
});

test('a site lacks what the other one has from it → a loss, also beside a process', async () => {
  await work('first');
  cpSync(pathOf('sites/ireland'), pathOf('before'), { recursive: true });
  await work('second');
  renameSync(pathOf('sites/ireland'), pathOf('after'));
  renameSync(pathOf('before'), pathOf('sites/ireland'));
  expect((await inspectDataDirectory(dataDir)).startError).toMatch(
    /site frankfurt has \d+ operations of ireland, which has \d+ itself/,
  );
});
