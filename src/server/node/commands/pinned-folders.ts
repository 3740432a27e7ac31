/**
 * The folders of a data directory whose files are pinned, and which of their files count.
 *
 * A store of rows (LevelDB) can be read as it is at one moment, like the logs beside it:
 *
 * - A table (`.ldb`) has all its bytes, on the disk, before the manifest names it. It never changes
 *   after that.
 * - The manifest and the store's own log are only appended to, one record after the other. The next
 *   open leaves out a record that is cut off at the end, so a commit is there as a whole or not at
 *   all.
 * - `CURRENT` names the manifest. Each open of the store replaces it, and begins a new manifest and
 *   a new log. The numbers of files that a manifest names are not used again.
 *
 * So a moment at which the folder has these names, and each file its size, is what a killed process
 * would have left. Counterexample for copies one after the other: a compaction ends between the
 * copy of the tables and that of the manifest, which then names tables that the copy lacks.
 */
import { KEY_FILE } from '../storage/directory/data-directory.ts';
import type { ReadableFiles } from '../storage/disk/files.ts';
import { ROWS_FOLDER } from '../storage/format/file-names.ts';
import { locateRows, locateSite } from '../transfer/install-site.ts';

export interface FolderKind {
  /** Its path in the directory, as long as nothing has moved. */
  readonly name: string;
  /** Whether it is a store of rows. */
  readonly isStore: boolean;
  /** Returns its path on the disk. */
  locate(files: ReadableFiles): string;
  /** Whether a reader needs the file of this name. */
  has(file: string): boolean;
}

/** The folder of the small files. */
export const ROOT = '.';

/** Returns the folder of the store of rows of a site. */
export function getRowsFolder(siteFolder: string): string {
  return `${siteFolder}/${ROWS_FOLDER}`;
}

/** @param sites the folders of the sites */
export function listFolders(sites: readonly string[]): readonly FolderKind[] {
  const root: FolderKind = { name: ROOT, isStore: false, locate: () => ROOT, has: isSmallFile };
  return [root, ...sites.flatMap((site) => [createSiteFolder(site), createStoreFolder(site)])];
}

function createSiteFolder(site: string): FolderKind {
  return {
    name: site,
    isStore: false,
    locate: (files) => locateSite(files, site),
    // Logs, and checkpoints of a version before. The site has folders beside them.
    has: (file) => /^\d+\.[a-z-]+$/.test(file),
  };
}

function createStoreFolder(site: string): FolderKind {
  return {
    name: getRowsFolder(site),
    isStore: true,
    locate: (files) => locateRows(files, site) ?? getRowsFolder(site),
    has: isStoreFile,
  };
}

/** Whether it describes the deployment, or is what a site has saved for its operator. */
function isSmallFile(name: string): boolean {
  return name === KEY_FILE || name.endsWith('.json');
}

/**
 * Whether an open of the store needs the file. The lock must not even be opened: POSIX releases it
 * once its process closes any descriptor of the file, and that may be the process of the server.
 */
function isStoreFile(name: string): boolean {
  return /^(?:CURRENT|MANIFEST-\d+|\d+\.(?:log|ldb|sst))$/.test(name);
}
