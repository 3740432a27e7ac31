/** The directory of a site on a simulated disk, as its starts and its operators use it. */
import type { SiteDirectory } from '../../../server/node/storage/durable-storage.ts';
import type { Files } from '../../../server/node/storage/disk/files.ts';
import { ROWS_FOLDER } from '../../../server/node/storage/format/file-names.ts';
import { recoverSite, type RecoveredSite } from '../../../server/node/storage/recovery.ts';
import type { RowReader, RowStore } from '../../../server/node/storage/rows/row-store.ts';
import { readCut } from '../../../server/node/storage/rows/saved-state.ts';
import type { SimulatedRowStores } from './simulated-row-stores.ts';

/** A disk with files, and with stores of rows. */
export interface SiteDisk {
  readonly rows: SimulatedRowStores;
  mount(): Files;
}

export const SITE_DIRECTORY = 'site';
export const ROWS_DIRECTORY = `${SITE_DIRECTORY}/${ROWS_FOLDER}`;

/** Mounts the disk for a start, and opens the store of rows at once. */
export function mountSite(disk: SiteDisk): SiteDirectory {
  const files = disk.mount();
  return { files, rows: openRows(disk, files), directory: SITE_DIRECTORY };
}

/**
 * Recovers what is on the disk of a stopped site. The rows can be read until the next mount.
 *
 * @throws `UNAVAILABLE` if the disk is damaged
 */
export function recoverDisk(disk: SiteDisk): RecoveredSite {
  const { files, rows } = mountSite(disk);
  const snapshot = rows.openSnapshot();
  void rows.close();
  return recoverSite(files, snapshot, SITE_DIRECTORY);
}

/**
 * A store without a cut has nothing that counts, so it is emptied, as in production. If the logs do
 * not suffice, nothing is changed.
 */
function openRows({ rows }: SiteDisk, files: Files): RowStore {
  const store = rows.openNow(ROWS_DIRECTORY);
  if (hasCut(store)) return store;
  recoverSite(files, store, SITE_DIRECTORY);
  void store.close();
  rows.beginToRemove(ROWS_DIRECTORY);
  return rows.openNow(ROWS_DIRECTORY);
}

function hasCut(reader: RowReader): boolean {
  try {
    return readCut(reader) !== undefined;
  } catch {
    // The start that reads it reports the damage.
    return true;
  }
}
