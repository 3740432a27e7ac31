/**
 * A data folder that is looked at while a process is working in it: nothing is taken for lost that
 * only moved on.
 */
// @rule STO-25
import { cpSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { createClient } from '../../../../../src/index.ts';
import { get, put } from '../../../../../src/operations/index.ts';
import { createEmbedded } from '../../../../../src/server/node/embedded/embedded.ts';
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
  const embedded = createEmbedded(valuesService(), { sites: SITES, dataDir, onAlarm: () => {} });
  await createClient(embedded.site('ireland')).invoke(put('k', value));
  const frankfurt = createClient(embedded.site('frankfurt'));
  await expect.poll(() => frankfurt.invokeWeak(get('k'))).toBe(value);
  await embedded.close();
}

const gone = (): never => {
  throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
};

test('a file goes before it is read → looked at again', async () => {
  await work('v');
  vi.spyOn(NodeFiles.prototype, 'read').mockImplementationOnce(gone);
  expect(inspectDataDirectory(dataDir)).toMatchObject({
    startError: null,
    sites: [{ startError: null }, { startError: null }],
  });
});

test('files disappear at every attempt → UNAVAILABLE with the advice to inspect again', async () => {
  await work('v');
  vi.spyOn(NodeFiles.prototype, 'read').mockImplementation(gone);
  const error = {
    code: 'UNAVAILABLE',
    field: 'dataDir',
    message: expect.stringContaining('inspect it again'),
  };
  expect(() => inspectDataDirectory(dataDir)).toThrow(expect.objectContaining(error));
});

test.each([
  ['a process works there', true, null],
  [
    'none does',
    false,
    expect.stringMatching(/site frankfurt has \d+ operations of ireland, which has \d+ itself/),
  ],
])('what is looked at later is newer, and %s → lost?', async (_, isLocked, rejection) => {
  await work('first');
  cpSync(pathOf('sites'), pathOf('before'), { recursive: true });
  await work('second');
  renameSync(pathOf('sites'), pathOf('after'));
  renameSync(pathOf('before'), pathOf('sites'));
  if (isLocked) writeFileSync(pathOf('lock'), '');
  const { list } = NodeFiles.prototype;
  vi.spyOn(NodeFiles.prototype, 'list').mockImplementation(function (this: NodeFiles, folder) {
    if (folder === 'sites/frankfurt') cpSync(pathOf('after'), pathOf('sites'), { recursive: true });
    return list.call(this, folder);
  });
  expect(inspectDataDirectory(dataDir).startError).toEqual(rejection);
});
