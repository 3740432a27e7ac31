/**
 * Inspects a data directory and its damage. It changes nothing and needs no lock, so it works even
 * if no server can start.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import {
  countEntry,
  pickPositions,
  type LogCounts,
  type LogPositions,
} from '../../log/log-positions.ts';
import { getSavedSite } from '../../log/recovered-state.ts';
import type { Service } from '../../service/service.ts';
import type { ReadableFiles } from '../storage/disk/files.ts';
import { formatFileName, getLogDirectory, parseFileNumbers } from '../storage/format/file-names.ts';
import { readLog, type LogDamage } from '../storage/format/log-file-reader.ts';
import type { RecoveredSite } from '../storage/recovery.ts';
import type { CheckProgress, CheckResult } from '../storage/rows/check-report.ts';
import type { RowReader } from '../storage/rows/row-store.ts';
import { readCut } from '../storage/rows/saved-state.ts';
import { checkStoredRows } from './check-stored-rows.ts';
import { getRowsFolder } from './pinned-folders.ts';
import {
  checkService,
  describeFoundSite,
  getStoredSite,
  getStoredSites,
  openToRead,
  recoverStored,
  rejectUnusable,
  type FoundSite,
  type OpenedDirectory,
} from './stored-directory.ts';

export interface InspectedLog {
  readonly file: string;
  readonly bytes: number;
  /** Where its entries begin in both logs; `null` if its first frame is unreadable. */
  readonly start: LogPositions | null;
  /** Entries that can be read, up to the first incomplete frame. */
  readonly entries: LogPositions;
  /** The part that is unreadable although it was on the disk once. */
  readonly damage: LogDamage | null;
}

/** The store of rows of a site. */
export interface InspectedRows {
  /**
   * Whether the rows are in the store. If not, they are in checkpoint files of the version before,
   * which the next start converts. Then `commit` is that of these files.
   */
  readonly isConverted: boolean;
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
  /** The last commit, with its positions in the logs. `null` if there is none, or it is damaged. */
  readonly commit: { readonly number: number; readonly contained: LogPositions } | null;
}

export interface InspectedSite {
  readonly name: string;
  readonly rows: InspectedRows;
  readonly logs: readonly InspectedLog[];
  /** Entries of both logs with which the site would start; `null` if it would not. */
  readonly lengths: LogPositions | null;
  /** Why it would not start. */
  readonly startError: string | null;
  /** About how many bytes of memory a start needs; `null` before the first checkpoint. */
  readonly memoryBytes: number | null;
  /** What is missing without a loss of data. */
  readonly damages: readonly string[];
  /** What is wrong in the rows of the last checkpoint. `null` without that, and if not deep. */
  readonly rowsCheck: CheckResult | null;
}

export interface InspectOptions {
  /** Whether to read all rows too. A start reads only some. Default: `false` */
  readonly isDeep?: boolean;
  /** The service of the data. With it, a deep inspection compares indexes with the rows too. */
  readonly service?: Service | undefined;
  /** Called while rows are read. */
  onProgress?(site: string, progress: CheckProgress): void;
}

export interface Inspection {
  readonly dataDir: string;
  readonly service: string;
  readonly sites: readonly InspectedSite[];
  /** Why the sites do not fit together, beside the problems of single sites. */
  readonly startError: string | null;
}

/**
 * Inspects a data directory as it is at one moment.
 *
 * @throws CorrectableError as `openToRead`; `INVALID_ARGUMENT` if the data is not of the service
 */
export async function inspectDataDirectory(
  dataDir: string,
  options: InspectOptions = {},
): Promise<Inspection> {
  const opened = await openToRead(dataDir);
  const { manifest } = opened;
  try {
    if (options.service !== undefined) checkService(manifest, options.service, dataDir);
    const inspected: Awaited<ReturnType<typeof inspectSite>>[] = [];
    for (const name of getStoredSites(manifest))
      inspected.push(await inspectSite(opened, name, options));
    const all = inspected.flatMap(({ found }) => found ?? []);
    const found = all.length === inspected.length ? all : undefined;
    return {
      dataDir,
      service: manifest.service.name,
      sites: inspected.map(({ site }) => site),
      startError: getRejection(() => rejectUnusable(opened, dataDir, found)),
    };
  } finally {
    await opened.close();
  }
}

async function inspectSite(
  opened: OpenedDirectory,
  name: string,
  { isDeep = false, service, onProgress }: InspectOptions,
): Promise<{ readonly site: InspectedSite; readonly found: FoundSite | undefined }> {
  const { files, manifest } = opened;
  const folder = getLogDirectory(name);
  const names = files.list(folder);
  const logs = parseFileNumbers(names, 'log').map((number) => inspectLog(files, folder, number));
  const rows = inspectRows(opened, name);
  let recovered: RecoveredSite | undefined;
  const rejection = getRejection(() => (recovered = recoverStored(opened, name)));
  const { lengths = null, damages = [], stored } = recovered ?? {};
  const { checkpoint } = stored ?? {};
  const rowsCheck =
    isDeep && rows.isConverted && rows.commit !== null
      ? await checkStoredRows(getStoredSite(opened, name).rows, {
          tables: service?.tables,
          onProgress: (progress) => onProgress?.(name, progress),
        })
      : null;
  const memoryBytes = checkpoint && getSavedSite(checkpoint).own.memoryBytes;
  return {
    site: {
      name,
      rows,
      logs,
      lengths,
      startError: rejection,
      memoryBytes: memoryBytes === undefined ? null : Math.ceil(memoryBytes),
      damages,
      rowsCheck,
    },
    found: stored && describeFoundSite(stored, manifest),
  };
}

function inspectRows(opened: OpenedDirectory, site: string): InspectedRows {
  const { files, rows, directory } = getStoredSite(opened, site);
  const folder = getRowsFolder(directory);
  const paths = files.list(folder).map((name) => `${folder}/${name}`);
  const sizes = paths.map((path) => opened.files.getWrittenBytes(path));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const isConverted = opened.rows.get(site)?.isConverted ?? true;
  return { isConverted, folder, files: paths.length, bytes, commit: readCommit(rows) };
}

/** Whether it is whole is checked when the site is recovered. */
function readCommit(rows: RowReader): InspectedRows['commit'] {
  try {
    const { number, contained } = readCut(rows) ?? {};
    return number === undefined || contained === undefined ? null : { number, contained };
  } catch {
    return null;
  }
}

function inspectLog(files: ReadableFiles, folder: string, number: number): InspectedLog {
  const file = `${folder}/${formatFileName(number, 'log')}`;
  const bytes = files.read(file);
  const { header, entries, damage } = readLog(bytes, number);
  const counts: LogCounts = { local: 0, red: 0 };
  for (const { log } of entries) countEntry(counts, log);
  const start = header === undefined ? null : pickPositions(header);
  return {
    file,
    bytes: bytes.length,
    start,
    entries: counts,
    damage: damage ?? null,
  };
}

function getRejection(attempt: () => unknown): string | null {
  try {
    attempt();
    return null;
  } catch (error) {
    if (error instanceof CorrectableError) return error.message;
    throw error;
  }
}
