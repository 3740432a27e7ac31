/** Storage in a folder of this machine: which deployments may be held up by its disk. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { openStorage } from '../../../../../src/server/storage/folder/open-storage.ts';
import { notesService } from '../notes-service.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'correctables-storage-'));
  return () => rm(dataDir, { recursive: true });
});

test.for([
  { sites: ['irl'], isSynced: true },
  { sites: ['irl', 'frk'], isSynced: false },
])('$sites: a small entry → synced in the turn after? $isSynced', async ({ sites, isSynced }) => {
  const storage = openStorage(dataDir, { service: notesService(), sites, redLeader: 'irl', onAlarm: () => {} });
  const [site] = storage.sites;
  let synced = 0;
  const source = { sections: {}, cut: () => ({ rest: null, contained: { local: 0, red: 0 } }) };
  const keptFrom = { local: 0, red: 0 };
  site?.attach(
    { ...source, keptFrom },
    { synced: (_log, length) => void (synced = length), fenced: () => {}, failed: () => {} },
  );
  site?.append('local', ['entry'], 1);
  // Other threads are heard of only in a later turn.
  await setImmediate();
  expect(synced).toBe(isSynced ? 1 : 0);
  await storage.close();
  expect(synced).toBe(1);
});
