/**
 * Converts the directory of a site that a version before the store of rows has written: its last
 * checkpoint file is imported into the store once. The file stays until the caller removes it, so
 * a start that fails leaves a directory that the version before can still use.
 */
import { isAtMost } from '../../../log/log-positions.ts';
import type { SavedSiteState } from '../../../log/recovered-state.ts';
import type { Tables } from '../../../service/tables.ts';
import type { ReadableFiles } from '../disk/files.ts';
import { CheckpointRows } from '../format/checkpoint-rows.ts';
import {
  findLatestCheckpoint,
  listCheckpointFiles,
  type LatestCheckpoint,
} from '../format/latest-checkpoint.ts';
import { checkLogs } from '../recovery.ts';
import { importInSteps, ImportWrites, type ImportOptions } from './import-state.ts';
import type { RowStore } from './row-store.ts';
import { runSteps, type RunStepsOptions, type Steps } from './run-steps.ts';
import { readCut } from './saved-state.ts';

export interface ConversionProgress {
  /** How many rows the store has got. */
  readonly rowCount: number;
  /** How many bytes of the file were read, and how many it has. */
  readonly bytes: number;
  readonly totalBytes: number;
}

export interface ConversionOptions extends Omit<ImportOptions, 'onProgress'>, RunStepsOptions {
  readonly files: ReadableFiles;
  /** The folder of the site, relative to `files`. */
  readonly folder: string;
  /** The name of the site. Default: its files may be those of any site. */
  readonly site?: string | undefined;
  readonly store: RowStore;
  /** Whether the store was made for this start. Otherwise it may have rows of an earlier one. */
  readonly isNew: boolean;
  /** The tables of the service, which decide what orders there are. */
  readonly tables: Tables;
  /** Called before a checkpoint file is read that is not in the store yet. */
  onConvert?(): void;
  onProgress?(progress: ConversionProgress): void;
}

export interface Conversion {
  /** What is missing without a loss of data. */
  readonly damages: readonly string[];
  /**
   * The checkpoint files. Nothing needs them any more, and they may be removed once the site can
   * start.
   */
  readonly oldFiles: readonly string[];
  /**
   * Whether the store has rows that do not count: of a conversion that has not ended, or older than
   * a checkpoint that the version before has written since. Then nothing was done. The store must
   * be emptied first, and the conversion repeated.
   */
  readonly isStoreOld: boolean;
}

/**
 * Converts the directory, if it has checkpoint files and its store has nothing of them. `done` gets
 * an error if data is missing or the store cannot be written. Then nothing has changed.
 */
export function convertCheckpoint(
  options: ConversionOptions,
  done: (error: Error | undefined, conversion?: Conversion) => void,
  Writes: typeof ImportWrites = ImportWrites,
): void {
  runSteps(convertInSteps(options, Writes), options, done);
}

function* convertInSteps(
  options: ConversionOptions,
  Writes: typeof ImportWrites,
): Steps<Conversion> {
  const { files, folder, store, site, isNew } = options;
  const oldFiles = listCheckpointFiles(files.list(folder)).map((name) => `${folder}/${name}`);
  const cut = readCut(store);
  if (oldFiles.length === 0 && (cut !== undefined || isNew))
    return { damages: [], oldFiles, isStoreOld: false };
  if (oldFiles.length > 0 && cut === undefined && isNew) options.onConvert?.();
  const { latest, damages } = yield* findLatestCheckpoint(files, folder);
  // A conversion has ended, and its files were not removed.
  if (cut !== undefined && (latest?.number ?? 0) <= cut.number)
    return { damages: [], oldFiles, isStoreOld: false };

  // A store may also have lost its cut. Then the logs do not reach back, and nothing is removed.
  const logged = checkLogs({ files, folder, site }, latest?.summary.last, damages);
  if (!isNew) return { damages: [], oldFiles, isStoreOld: true };
  if (latest === undefined) return { damages, oldFiles, isStoreOld: false };
  yield* importCheckpoint(latest, options, Writes);
  return { damages: [...damages, ...findLostCommits(latest, logged)], oldFiles, isStoreOld: false };
}

/** A file may end before its last commit. The logs are enough then. */
function findLostCommits(
  { path, number, summary: { damage, last } }: LatestCheckpoint,
  logged: ReturnType<typeof checkLogs>,
): string[] {
  if (logged?.file !== number || damage !== undefined) return [];
  return isAtMost(logged, last.contained) ? [] : [`${path} lacks its last checkpoint`];
}

function* importCheckpoint(
  { source, number, summary }: LatestCheckpoint,
  options: ConversionOptions,
  Writes: typeof ImportWrites,
): Steps {
  const rows = new CheckpointRows(source, number, summary);
  yield* rows.findLast();
  const onProgress = (rowCount: number): void =>
    options.onProgress?.({ rowCount, bytes: rows.position, totalBytes: summary.bytes });
  const smallParts = forgetMemory(summary.last.smallParts as SavedSiteState);
  const state = { ...summary.last, smallParts, rows, number };
  yield* importInSteps(state, { ...options, onProgress }, Writes);
}

/** Drops the count of the version before, which has all rows in memory. */
export function forgetMemory({ shared, own }: SavedSiteState): SavedSiteState {
  const { memoryBytes: _, ...rest } = own;
  return { shared, own: rest };
}
