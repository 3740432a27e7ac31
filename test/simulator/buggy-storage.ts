/** Storage that breaks one rule. */
import { DurableStorage } from '../../src/server/node/storage/durable-storage.ts';
import { recoverSite } from '../../src/server/node/storage/recovery.ts';
import { OrderedWrites } from '../../src/server/node/storage/disk/ordered-writes.ts';
import type { RunParts } from '../../src/testing/simulator/run-parts.ts';
import { replaceArguments, replaceMethods } from '../support/replace-methods.ts';

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
} satisfies Readonly<Record<string, Partial<RunParts>>>;
