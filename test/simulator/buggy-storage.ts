/** Storage that breaks one rule. */
import type { StoredSection } from '../../src/server/service/records/checkpoint.ts';
import type { LogKind } from '../../src/server/log/local-log.ts';
import type { LogCounts } from '../../src/server/log/log-positions.ts';
import {
  DurableStorage,
  recoverAndReport,
  type DurableStorageOptions,
  type OpenedSite,
} from '../../src/server/node/storage/durable-storage.ts';
import { recoverSite } from '../../src/server/node/storage/recovery.ts';
import { createCutEntry, readCut } from '../../src/server/node/storage/rows/saved-state.ts';
import { OrderedWrites } from '../../src/server/node/storage/disk/ordered-writes.ts';
import { Site } from '../../src/server/site/site.ts';
import type { RunParts } from '../../src/testing/simulator/run-parts.ts';
import { replaceArguments, replaceMethods } from '../support/replace-methods.ts';

/** Replaces methods of the section of rows, which commits then take last. */
const withRows = (replace: (rows: StoredSection) => Partial<StoredSection>): Partial<RunParts> => ({
  Site: replaceMethods(Site, (original) => ({
    get sections() {
      const { rows, ...others } = original.sections;
      if (rows === undefined) return others;
      const stored = rows as StoredSection;
      const plain: StoredSection = {
        get isOpen() {
          return stored.isOpen;
        },
        get savedTables() {
          return stored.savedTables;
        },
        open: (saved) => stored.open(saved),
        changeAll: () => stored.changeAll(),
        closeChanges: () => stored.closeChanges(),
        takeClosed: (max) => stored.takeClosed(max),
        restore: (saved) => stored.restore(saved),
        onCommitted: (saved) => stored.onCommitted(saved),
        onCommitFailed: () => stored.onCommitFailed(),
      };
      return { ...others, rows: Object.assign(plain, replace(stored)) };
    },
  })),
});

/** Starts from something else where the directory is refused. */
const withRefused = (
  recover: (options: DurableStorageOptions, reason: string) => OpenedSite | undefined,
): Partial<RunParts> => ({
  DurableStorage: replaceArguments(DurableStorage, (options, ...others) => {
    try {
      return [{ ...options, recovered: recoverAndReport(options, undefined) }, ...others];
    } catch (error) {
      const recovered = recover(options, (error as Error).message);
      return [recovered === undefined ? options : { ...options, recovered }, ...others];
    }
  }),
});

/**
 * Recovers a directory as if its cut were where a log begins or ends. Returns `undefined` if that
 * is not why it was refused.
 */
function moveCut(
  { files, rows, directory }: DurableStorageOptions,
  end: 'begins' | 'ends',
): OpenedSite | undefined {
  const cut = readCut(rows);
  if (cut === undefined) return undefined;
  const snapshot = rows.openSnapshot();
  const [contained, retainedFrom] = [{ ...cut.contained }, { ...cut.retainedFrom }];
  for (let attempt = 0; attempt < MAX_LOGS; attempt += 1) {
    const [key, value] = createCutEntry({ ...cut, contained, retainedFrom });
    const reader = {
      get: (name: Uint8Array) => (Buffer.compare(name, key) === 0 ? value : snapshot.get(name)),
    };
    try {
      return { ...recoverSite(files, reader, directory), snapshot };
    } catch (error) {
      const [, log, place] = new RegExp(`the (\\S+) log ${end} at entry (\\d+)`).exec(
        (error as Error).message,
      ) ?? ['', undefined, ''];
      if (log === undefined) return undefined;
      for (const positions of [contained, retainedFrom])
        (positions as LogCounts)[log as LogKind] = Number(place);
    }
  }
  return undefined;
}

const MAX_LOGS = 8;

/** What storage can be broken by, by name. */
export const BUGGY_STORAGE = {
  /** As soon as any write is on the disk, the first one counts. */
  unordered: {
    OrderedWrites: replaceMethods(OrderedWrites, () => ({
      isNextSynced: (begun) => begun.some(({ isDone }) => isDone),
    })),
  },

  /** Files that cannot be read are removed, and rows are ignored, so that the site can start. */
  forgiving: withRefused(({ files, rows, directory }) => {
    for (const name of files.list(directory))
      if (name.endsWith('.log')) files.remove(`${directory}/${name}`);
    const snapshot = rows.openSnapshot();
    return { ...recoverSite(files, { get: () => undefined }, directory), snapshot };
  }),

  /** Goes on from a cut behind the end of a log as if the log ended there. */
  beyondTheLog: withRefused((options) => moveCut(options, 'ends')),

  /** Goes on from old rows as if the entries that logs have dropped were in them. */
  oldStore: withRefused((options) => moveCut(options, 'begins')),

  /** Closes the set of rows when it is taken, and not at the cut. */
  lateRows: withRows((rows) => {
    let isClosed = true;
    return {
      closeChanges: () => void (isClosed = false),
      takeClosed: (max) => {
        if (!isClosed) rows.closeChanges();
        isClosed = true;
        return rows.takeClosed(max);
      },
    };
  }),

  /** Leaves rows that were not taken at once out of a commit. */
  someOfRows: withRows((rows) => {
    let isTaken = false;
    return {
      closeChanges: () => {
        isTaken = false;
        rows.closeChanges();
      },
      takeClosed: (max) => {
        const taken = rows.takeClosed(max);
        if (isTaken && taken.length > 0) {
          while (rows.takeClosed(max).length > 0);
          return [];
        }
        isTaken = true;
        return taken;
      },
    };
  }),
} satisfies Readonly<Record<string, Partial<RunParts>>>;
