/** Storage that breaks one rule. */
import { DurableStorage } from '../../src/server/storage/durable-storage.ts';
import type { DurableStorageOptions } from '../../src/server/storage/durable-storage.ts';
import { recoverSite } from '../../src/server/storage/recovery.ts';
import { OrderedWrites } from '../../src/server/storage/disk/ordered-writes.ts';
import type { OrderedWritesOptions } from '../../src/server/storage/disk/ordered-writes.ts';
import { SegmentLog } from '../../src/server/storage/segment-log.ts';
import type { SegmentLogOptions } from '../../src/server/storage/segment-log.ts';

/** As soon as any write is on the disk, the first one counts. */
class UnorderedWrites extends OrderedWrites {
  protected override isNextSynced(begun: readonly { readonly isDone: boolean }[]): boolean {
    return begun.some(({ isDone }) => isDone);
  }
}

class UnorderedLog extends SegmentLog {
  protected override createWrites(options: OrderedWritesOptions): OrderedWrites {
    return new UnorderedWrites(options);
  }
}

class UnorderedStorage extends DurableStorage {
  protected override createLog(options: SegmentLogOptions): SegmentLog {
    return new UnorderedLog(options);
  }
}

/** What cannot be read is removed, so that the site can start. */
class ForgivingStorage extends DurableStorage {
  constructor(options: DurableStorageOptions) {
    super(cleaned(options));
  }
}

function cleaned(options: DurableStorageOptions): DurableStorageOptions {
  const { files, directory } = options;
  try {
    recoverSite(files, directory);
  } catch {
    for (const name of files.list(directory)) files.remove(`${directory}/${name}`);
  }
  return options;
}

/** What storage can be broken by, by name. */
export const BUGGY_STORAGE = { unordered: UnorderedStorage, forgiving: ForgivingStorage };
