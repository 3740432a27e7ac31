/**
 * A site is made of what was transferred in one step: after a crash anywhere there is the old one
 * or the new one.
 */
// @rule CLU-T5
import { beforeEach, expect, test } from 'vitest';
import { createSiteFromShared } from '../../../../../src/server/log/recovered-state.ts';
import type {
  RecoveredState,
  SavedSiteState,
} from '../../../../../src/server/log/recovered-state.ts';
import { EMPTY_OWN_STATE } from '../../../../../src/server/service/records/checkpoint.ts';
import type { Checkpoint } from '../../../../../src/server/service/records/checkpoint.ts';
import type { Files, SyncedFile } from '../../../../../src/server/node/storage/disk/files.ts';
import { DurableStorage } from '../../../../../src/server/node/storage/durable-storage.ts';
import { recoverSite } from '../../../../../src/server/node/storage/recovery.ts';
import { finishInstallation } from '../../../../../src/server/node/transfer/install-site.ts';
import { SITE, TransferSites } from './transfer-sites.ts';

let sites: TransferSites;
beforeEach(() => {
  sites = createSites();
});

function createSites(): TransferSites {
  const made = new TransferSites();
  for (let row = 0; row < 30; row += 1) made.donor.put(`row ${row}`, `value ${row} `.repeat(20));
  return made;
}

const LOCAL = ['entry 10', 'entry 11'];

/** A returning site: the shared part, with an own part and an own log that begins before it. */
function withOwnPart(shared: Checkpoint): RecoveredState {
  const { checkpoint, red } = createSiteFromShared(shared);
  const { smallParts, sections } = checkpoint as Checkpoint;
  const own = { ...EMPTY_OWN_STATE, syncedLength: 11, clock: 5 };
  return {
    local: { start: 10, entries: LOCAL as unknown as RecoveredState['local']['entries'] },
    red,
    checkpoint: {
      sections: { ...sections, 'own.slots': new Map([['slot', 1]]) },
      smallParts: { ...(smallParts as SavedSiteState), own },
    },
  };
}

test('nothing of its own → a site that starts with the shared part, where the red log goes on', () => {
  sites.receiveAndInstall(sites.disk.mount(), () => {});
  sites.run();
  const { stored, lengths, damages, hasOneCopy, nextSegment } = recoverSite(
    sites.disk.mount(),
    SITE,
    'virginia',
  );
  expect(stored.checkpoint?.sections['rows']).toEqual(sites.donor.rows);
  expect(stored.local).toEqual({ start: 0, entries: [] });
  expect(stored.red).toEqual({ start: 7, entries: [] });
  expect(lengths).toEqual({ local: 0, red: 7 });
  expect({ damages, hasOneCopy, nextSegment }).toEqual({
    damages: [],
    hasOneCopy: false,
    nextSegment: 10,
  });
  expect(sites.disk.list('incoming')).toEqual([]);
});

test('an own part and an own log → both are there, and the site appends behind them', () => {
  sites.receiveAndInstall(sites.disk.mount(), () => {}, withOwnPart);
  sites.run();
  const files = sites.disk.mount();
  const { stored, retainedFrom } = recoverSite(files, SITE, 'virginia');
  expect(stored.local).toEqual({ start: 10, entries: LOCAL });
  expect(retainedFrom).toEqual({ local: 10, red: 7 });
  expect(stored.checkpoint?.sections['own.slots']).toEqual(new Map([['slot', 1]]));
  const storage = new DurableStorage({
    files,
    timing: sites.timing,
    directory: SITE,
    site: 'virginia',
  });
  expect(storage.term).toBe(11);
  let synced = 0;
  storage.attach(sites.donor, {
    onSynced: (_, length) => (synced = length),
    onFenced: () => {},
    onFailed: () => {},
  });
  storage.append('local', [LOCAL[0]]);
  sites.run(1000);
  expect(synced).toBe(13);
});

/** What the files of a site amount to; `none` where there are none. */
function describeSite(files: Files): 'none' | 'old' | 'new' {
  finishInstallation(files, SITE);
  if (files.list(SITE).length === 0) return 'none';
  return recoverSite(files, SITE, 'virginia').stored.checkpoint?.sections['rows'] === undefined
    ? 'old'
    : 'new';
}

test.each([
  ['none', createSiteFromShared],
  ['old', withOwnPart],
] as const)(
  'a crash before any step of the disk, with %s → that, or the new one, and at last the new one',
  (before, state) => {
    const found: string[] = [];
    let crashes = 0;
    for (let isCrashed = true; isCrashed; crashes += 1) {
      const at = createSites();
      if (before === 'old') writeOldSite(at);
      const crashing = new CrashingFiles(at.disk.mount(), crashes);
      runUntilCrash(at, crashing, () => at.receiveAndInstall(crashing, () => {}, state));
      isCrashed = crashing.isCrashed;
      at.receiver?.close();
      at.disk.crash();
      // A second crash, while the installation is ended.
      const again = new CrashingFiles(at.disk.mount(), crashes % 5);
      runUntilCrash(at, again, () => finishInstallation(again, SITE));
      at.disk.crash();
      const files = at.disk.mount();
      const there = describeSite(files);
      if (isCrashed) found.push(there);
      if (there !== 'new') {
        at.receiveAndInstall(files, () => {}, state);
        at.run();
      }
      expect(describeSite(files)).toBe('new');
      expect(files.list('arrived')).toEqual([]);
    }
    expect(crashes).toBeGreaterThan(25);
    expect(new Set(found)).toEqual(new Set([before, 'new']));
    expect(found.lastIndexOf(before)).toBeLessThan(found.indexOf('new'));
  },
);

function writeOldSite(at: TransferSites): void {
  const storage = new DurableStorage({
    files: at.disk.mount(),
    timing: at.timing,
    directory: SITE,
    site: 'virginia',
  });
  const listener = { onSynced: () => {}, onFenced: () => {}, onFailed: () => {} };
  storage.attach(
    {
      sections: {},
      retainedFrom: { local: 0, red: 0 },
      createCut: () => ({ smallParts: {}, contained: { local: 0, red: 0 } }),
    },
    listener,
  );
  storage.append('local', LOCAL);
  at.run(1000);
  void storage.close();
}

class CrashError extends Error {}

function runUntilCrash(at: TransferSites, crashing: CrashingFiles, act: () => void): void {
  try {
    act();
    at.run(60_000, () => crashing.isCrashed);
  } catch (error) {
    if (!(error instanceof CrashError)) throw error;
  }
}

/** Files of a process that ends before its disk is changed for the nth time. */
class CrashingFiles implements Files {
  isCrashed = false;
  readonly #files: Files;
  #left: number;

  constructor(files: Files, left: number) {
    this.#files = files;
    this.#left = left;
  }

  list = (folder: string): readonly string[] => this.#files.list(folder);
  read = (path: string): Uint8Array => this.#files.read(path);
  readPart = (...args: Parameters<Files['readPart']>): Uint8Array => this.#files.readPart(...args);

  makeDirectory(path: string): void {
    this.#step(() => this.#files.makeDirectory(path));
  }

  createNow(...args: Parameters<Files['createNow']>): SyncedFile {
    return this.#guard(this.#step(() => this.#files.createNow(...args)));
  }

  create(path: string, sizeBytes: number, done: Parameters<Files['create']>[2]): void {
    this.#step(() =>
      this.#files.create(path, sizeBytes, (error, file) => done(error, file && this.#guard(file))),
    );
  }

  replace(...args: Parameters<Files['replace']>): void {
    this.#step(() => this.#files.replace(...args));
  }

  moveDirectory(from: string, to: string): void {
    this.#step(() => this.#files.moveDirectory(from, to));
  }

  remove(path: string): void {
    this.#step(() => this.#files.remove(path));
  }

  removeNow(path: string): void {
    this.#step(() => this.#files.removeNow(path));
  }

  #guard(file: SyncedFile): SyncedFile {
    return {
      write: (...args) => this.#step(() => file.write(...args)),
      close: () => file.close(),
    };
  }

  #step<T>(run: () => T): T {
    this.isCrashed ||= this.#left === 0;
    if (this.isCrashed) throw new CrashError();
    this.#left -= 1;
    return run();
  }
}
