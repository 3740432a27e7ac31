/** Storage in a folder of this machine: who waits for its disk. */
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { openStorage } from '../../../../../../src/server/node/storage/directory/open-storage.ts';
import { notesService } from '../notes-service.ts';
import { temporaryFolder } from '../../../../../support/temporary-folder.ts';

let dataDir: string;
beforeEach(() => void (dataDir = temporaryFolder()));

test('an appended entry is not synced at once, but by the end of close', async () => {
  const storage = await openStorage(dataDir, {
    service: notesService(),
    sites: ['ireland'],
    redLeader: 'ireland',
    onAlarm: () => {},
  });
  const [site] = storage.sites;
  let synced = 0;
  const source = {
    sections: {},
    createCut: () => ({ smallParts: null, contained: { local: 0, red: 0 } }),
  };
  const retainedFrom = { local: 0, red: 0 };
  site?.attach(
    { ...source, retainedFrom },
    { onSynced: (_log, length) => void (synced = length), onFenced: () => {}, onFailed: () => {} },
  );
  site?.append('local', ['entry']);
  // Other threads are heard of only in a later turn.
  await setImmediate();
  expect(synced).toBe(0);
  await storage.close();
  expect(synced).toBe(1);
});
