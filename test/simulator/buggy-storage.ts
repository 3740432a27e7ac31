/** Storage that breaks one rule. */
import type { Section } from '../../src/server/service/records/checkpoint.ts';
import { DurableStorage } from '../../src/server/node/storage/durable-storage.ts';
import { recoverSite } from '../../src/server/node/storage/recovery.ts';
import { OrderedWrites } from '../../src/server/node/storage/disk/ordered-writes.ts';
import { Site } from '../../src/server/site/site.ts';
import type { RunParts } from '../../src/testing/simulator/run-parts.ts';
import { replaceArguments, replaceMethods } from '../support/replace-methods.ts';

/** Replaces methods of the section of rows, which checkpoints then take last. */
const withRows = (replace: (rows: Section) => Partial<Section>): Partial<RunParts> => ({
  Site: replaceMethods(Site, (original) => ({
    get sections() {
      const { rows, ...others } = original.sections;
      if (rows === undefined) return others;
      const plain: Section = {
        changeAll: () => rows.changeAll(),
        closeChanges: () => rows.closeChanges(),
        takeClosed: (max) => rows.takeClosed(max),
        restore: (saved) => rows.restore(saved),
      };
      return { ...others, rows: { ...plain, ...replace(rows) } };
    },
  })),
});

/** What storage can be broken by, by name. */
export const BUGGY_STORAGE = {
  /** As soon as any write is on the disk, the first one counts. */
  unordered: {
    OrderedWrites: replaceMethods(OrderedWrites, () => ({
      isNextSynced: (begun) => begun.some(({ isDone }) => isDone),
    })),
  },

  /** What cannot be read is removed, so that the site can start. */
  forgiving: {
    DurableStorage: replaceArguments(DurableStorage, (options, ...others) => {
      const { files, directory } = options;
      try {
        recoverSite(files, directory);
      } catch {
        for (const name of files.list(directory)) files.remove(`${directory}/${name}`);
      }
      return [options, ...others];
    }),
  },

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

  /** Leaves rows that were not taken at once out of a checkpoint. */
  halfOfRows: withRows((rows) => {
    let isTaken = false;
    return {
      closeChanges: () => {
        isTaken = false;
        rows.closeChanges();
      },
      takeClosed: (max) => {
        if (isTaken) return [];
        isTaken = true;
        return rows.takeClosed(max);
      },
    };
  }),
} satisfies Readonly<Record<string, Partial<RunParts>>>;
