/** Checks that a server can work with a backup, before the backup gets its name. */
import { CorrectableError } from '../../../correctable/errors.ts';
import type { LogPositions } from '../../log/log-positions.ts';
import { getLogDirectory } from '../storage/format/file-names.ts';
import type { CheckProgress } from '../storage/rows/check-report.ts';
import { checkStoredRows } from './check-stored-rows.ts';
import type { PinnedFiles } from './pinned-files.ts';
import { getRowsFolder } from './pinned-folders.ts';
import {
  describeFoundSite,
  getStoredSite,
  getStoredSites,
  openToRead,
  recoverStored,
  rejectUnusable,
  type FoundSite,
  type OpenedDirectory,
} from './stored-directory.ts';

export interface SavedSite {
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
  /** The entries of its logs with which the site starts. */
  readonly lengths: LogPositions;
  /** Damaged or missing files without a loss of data. */
  readonly damages: readonly string[];
}

export interface BackupCheck {
  /** The directory that was backed up. */
  readonly dataDir: string;
  /**
   * Whether to read all rows of the copy, and to make no backup if one is damaged or missing. A
   * start reads only some of them. Default: `false`
   */
  readonly isDeep?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Called while rows are read. */
  onCheckProgress?(site: string, progress: CheckProgress): void;
}

/**
 * Recovers the sites of a copy as a start does.
 *
 * @throws CorrectableError `UNAVAILABLE` if a start would refuse the copy, or a row is damaged; the
 * reason of the signal
 */
export async function checkBackup(
  draft: string,
  options: BackupCheck,
): Promise<readonly SavedSite[]> {
  const copy = await openToRead(draft);
  try {
    const saved = recoverAll(copy, options.dataDir);
    if (options.isDeep === true)
      for (const { name } of saved) await rejectDamagedRows(copy, name, options);
    return saved;
  } finally {
    await copy.close();
  }
}

/** Lists the logs of a site, and the files of its store of rows. */
export function listSiteFiles(files: PinnedFiles, site: string): readonly string[] {
  const folder = getLogDirectory(site);
  return [folder, getRowsFolder(folder)].flatMap((path) =>
    files.list(path).map((name) => `${path}/${name}`),
  );
}

function recoverAll(copy: OpenedDirectory, dataDir: string): readonly SavedSite[] {
  try {
    const read = getStoredSites(copy.manifest).map((name) => readSite(copy, name));
    const found = read.map((site) => site.found);
    rejectUnusable(copy, dataDir, found);
    return read.map(({ saved }) => saved);
  } catch (error) {
    if (!(error instanceof CorrectableError)) throw error;
    throw createRefusal(`because no server could start on it. ${error.message}`);
  }
}

function readSite(
  copy: OpenedDirectory,
  name: string,
): { readonly saved: SavedSite; readonly found: FoundSite } {
  const { files, manifest } = copy;
  const { lengths, damages, stored } = recoverStored(copy, name);
  const sizes = listSiteFiles(files, name).map((path) => files.getWrittenBytes(path));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const saved = { name, files: sizes.length, bytes, lengths, damages };
  return { saved, found: describeFoundSite(stored, manifest) };
}

/** Checkpoint files of the version before were read as a whole when they were opened. */
async function rejectDamagedRows(
  copy: OpenedDirectory,
  site: string,
  { signal, onCheckProgress }: BackupCheck,
): Promise<void> {
  if (copy.rows.get(site)?.isConverted !== true) return;
  const { rows, directory } = getStoredSite(copy, site);
  const result = await checkStoredRows(rows, {
    onProgress: (progress) => {
      signal?.throwIfAborted();
      onCheckProgress?.(site, progress);
    },
  });
  const { problems: [problem] = [], problemCount = 0 } = result ?? {};
  if (problem === undefined) return;
  const more = problemCount > 1 ? `, and there are ${problemCount - 1} more problems` : '';
  throw createRefusal(
    `because rows are damaged: ${getRowsFolder(directory)}: ${problem}${more}. Nothing was changed. Run \`correctables inspect --deep <dataDir>\` to see all.`,
  );
}

function createRefusal(reason: string): CorrectableError {
  const message = `No backup was made, ${reason}`;
  return new CorrectableError('UNAVAILABLE', message, { retryable: false, field: 'dataDir' });
}
