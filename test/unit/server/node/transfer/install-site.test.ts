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
import type { RowStore, RowStores } from '../../../../../src/server/node/storage/rows/row-store.ts';
import {
  recoverSite,
  type RecoveredSite,
} from '../../../../../src/server/node/storage/recovery.ts';
import {
  finishInstallation,
  installSite,
  locateRows,
} from '../../../../../src/server/node/transfer/install-site.ts';
import { SITE, TransferSites } from './transfer-sites.ts';

const ROWS = `${SITE}/rows`;

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
  const { stored, lengths, damages, lastCommit, nextSegment } = recover(sites);
  expect(stored.checkpoint?.sections['slots']).toEqual(sites.donor.rows);
  expect(stored.local).toEqual({ start: 0, entries: [] });
  expect(stored.red).toEqual({ start: 7, entries: [] });
  expect(lengths).toEqual({ local: 0, red: 7 });
  expect({ damages, lastCommit, nextSegment }).toEqual({
    damages: [],
    lastCommit: 5,
    nextSegment: 10,
  });
  expect(sites.disk.list('incoming')).toEqual([]);
});

test('an own part and an own log → both are there, and the site appends behind them', () => {
  sites.receiveAndInstall(sites.disk.mount(), () => {}, withOwnPart);
  sites.run();
  const { stored, retainedFrom } = recover(sites);
  expect(stored.local).toEqual({ start: 10, entries: LOCAL });
  expect(retainedFrom).toEqual({ local: 10, red: 7 });
  expect(stored.checkpoint?.sections['own.slots']).toEqual(new Map([['slot', 1]]));
  const storage = new DurableStorage({
    files: sites.disk.mount(),
    rows: sites.disk.rows.openNow(ROWS),
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
function describeSite(at: TransferSites): 'none' | 'old' | 'new' {
  const files = at.disk.mount();
  finishInstallation(files, SITE);
  if (files.list(SITE).length === 0) return 'none';
  return recover(at).stored.checkpoint?.sections['slots'] === undefined ? 'old' : 'new';
}

/** Recovers the site that was installed. */
function recover({ disk }: TransferSites): RecoveredSite {
  const files = disk.mount();
  const store = disk.rows.openNow(ROWS);
  const snapshot = store.openSnapshot();
  void store.close();
  return recoverSite(files, snapshot, SITE, 'virginia');
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
      const rows = crashing.guardRows(at.disk.rows);
      runUntilCrash(at, crashing, () => at.receiveAndInstall(crashing, () => {}, state, rows));
      isCrashed = crashing.isCrashed;
      at.receiver?.close();
      at.disk.crash();
      // A second crash, while the installation is ended.
      const again = new CrashingFiles(at.disk.mount(), crashes % 5);
      runUntilCrash(at, again, () => finishInstallation(again, SITE));
      at.disk.crash();
      const there = describeSite(at);
      if (isCrashed) found.push(there);
      if (there !== 'new') {
        at.receiveAndInstall(at.disk.mount(), () => {}, state);
        at.run();
      }
      expect(describeSite(at)).toBe('new');
      expect(at.disk.list('arrived')).toEqual([]);
    }
    expect(crashes).toBeGreaterThan(25);
    expect(new Set(found)).toEqual(new Set([before, 'new']));
    expect(found.lastIndexOf(before)).toBeLessThan(found.indexOf('new'));
  },
);

function writeOldSite(at: TransferSites): void {
  const storage = new DurableStorage({
    files: at.disk.mount(),
    rows: at.disk.rows.openNow(ROWS),
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

/** Replaces the logs alone: the local one loses an entry. */
function keepRows(
  { timing }: TransferSites,
  { stored, nextSegment, lastCommit }: RecoveredSite,
  place: { readonly files: Files; readonly rows: RowStores },
  done: () => void,
): void {
  const { local, ...others } = stored;
  const state = { ...others, local: { ...local, entries: local.entries.slice(0, 1) } };
  const site = { timing, directory: SITE, site: 'virginia', tables: {}, state };
  installSite({ ...site, ...place, nextSegment, commit: lastCommit }, done);
}

test('a state without rows, and a crash before any step → the site keeps all of its rows', () => {
  const lengths: number[] = [];
  let isCrashed = true;
  for (let crashes = 0; isCrashed; crashes += 1) {
    const at = createSites();
    at.receiveAndInstall(at.disk.mount(), () => {}, withOwnPart);
    at.run();
    const before = recover(at);
    const crashing = new CrashingFiles(at.disk.mount(), crashes);
    let isDone = false;
    const place = { files: crashing, rows: crashing.guardRows(at.disk.rows) };
    runUntilCrash(at, crashing, () =>
      keepRows(at, before, place, () => {
        isDone = true;
      }),
    );
    ({ isCrashed } = crashing);
    expect(isDone).toBe(!isCrashed);
    at.disk.crash();
    const again = new CrashingFiles(at.disk.mount(), crashes % 4);
    runUntilCrash(at, again, () => finishInstallation(again, SITE));
    at.disk.crash();
    const files = at.disk.mount();
    expect(at.disk.rows.getReader(locateRows(files, SITE) as string)).toBeDefined();
    finishInstallation(files, SITE);
    const { stored, damages, lastCommit } = recover(at);
    expect(stored.checkpoint).toEqual(before.stored.checkpoint);
    expect([damages, lastCommit]).toEqual([[], 5]);
    lengths.push(stored.local.entries.length);
  }
  expect(new Set(lengths)).toEqual(new Set([2, 1]));
  expect(lengths.lastIndexOf(2)).toBeLessThan(lengths.indexOf(1));
});

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

  /** Stores whose changes are steps too. */
  guardRows(rows: RowStores): RowStores {
    return {
      open: (folder, done) =>
        this.#step(() =>
          rows.open(folder, (error, store) => done(error, store && this.#guardStore(store))),
        ),
      remove: (...args) => this.#step(() => rows.remove(...args)),
    };
  }

  #guardStore(store: RowStore): RowStore {
    return {
      get: (key) => store.get(key),
      createBatch: () => {
        const batch = store.createBatch();
        return { ...batch, commit: (done) => this.#step(() => batch.commit(done)) };
      },
      openSnapshot: () => store.openSnapshot(),
      close: () => store.close(),
    };
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
