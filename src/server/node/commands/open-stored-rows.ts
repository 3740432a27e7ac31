/**
 * Opens the rows of a site of a pinned data directory: from its store of rows, or from the
 * checkpoint files of the version before, if no start has converted them yet.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import type { SavedSiteState } from '../../log/recovered-state.ts';
import type { Tables } from '../../service/tables.ts';
import { nodeTiming } from '../storage/disk/node-files.ts';
import { getLogDirectory } from '../storage/format/file-names.ts';
import {
  findLatestCheckpoint,
  listCheckpointFiles,
  type FoundCheckpoints,
} from '../storage/format/latest-checkpoint.ts';
import { convertCheckpoint, forgetMemory } from '../storage/rows/convert-checkpoint.ts';
import type { RowReader } from '../storage/rows/row-store.ts';
import {
  createCutEntry,
  createSmallPartsEntry,
  readCut,
  ROWS_FORMAT,
} from '../storage/rows/saved-state.ts';
import { openCopiedRows, openTemporaryStore, type CopiedRows } from './copied-rows.ts';
import type { PinnedFiles } from './pinned-files.ts';
import { getRowsFolder } from './pinned-folders.ts';

export interface PinnedRows extends CopiedRows {
  /** Whether a start has converted the rows, or has made them. */
  readonly isConverted: boolean;
  /** What is missing of checkpoint files, without a loss of data. */
  readonly damages: readonly string[];
}

/**
 * Opens the rows as the last checkpoint has them. If the store is damaged, each read throws the
 * reason.
 *
 * @param tables the tables of the service. Without them, checkpoint files show no rows, but all
 * that a recovery of the site reads.
 * @throws CorrectableError `UNAVAILABLE` as `openCopiedRows`, or if the logs lack what follows the
 * checkpoint files
 */
export async function openStoredRows(
  files: PinnedFiles,
  site: string,
  tables?: Tables,
): Promise<PinnedRows> {
  const folder = getLogDirectory(site);
  const copied = await openOrFail(files, folder);
  const found = findUnconverted(files, folder, copied.reader);
  if (found === undefined) return { ...copied, isConverted: true, damages: [] };
  await copied.close();
  return tables === undefined ? summarize(found) : convert(files, { folder, site }, tables);
}

async function openOrFail(files: PinnedFiles, folder: string): Promise<CopiedRows> {
  try {
    return await openCopiedRows(files, getRowsFolder(folder));
  } catch (error) {
    if (error instanceof CorrectableError) throw error;
    const get = (): never => {
      throw error;
    };
    return { reader: { get }, close: async () => {} };
  }
}

/** Returns the checkpoint files, if a start would convert them. */
function findUnconverted(
  files: PinnedFiles,
  folder: string,
  reader: RowReader,
): FoundCheckpoints | undefined {
  if (listCheckpointFiles(files.list(folder)).length === 0) return undefined;
  const number = readNumber(reader);
  const found = runToEnd(findLatestCheckpoint(files, folder));
  return number !== undefined && (found.latest?.number ?? 0) <= number ? undefined : found;
}

/** Returns the number of the last commit. A recovery reports it if that is damaged. */
function readNumber(reader: RowReader): number | undefined {
  try {
    return readCut(reader)?.number;
  } catch {
    return Infinity;
  }
}

function runToEnd<T>(steps: Generator<unknown, T, void>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Shows the cut and the small parts. */
function summarize({ latest, damages }: FoundCheckpoints): PinnedRows {
  const entries = new Map<string, Uint8Array>();
  const reader: RowReader = { get: (key) => entries.get(Buffer.from(key).toString('hex')) };
  if (latest !== undefined) {
    const { contained, retainedFrom } = latest.summary.last;
    const smallParts = forgetMemory(latest.summary.last.smallParts as SavedSiteState);
    const { number } = latest;
    const cut = { format: ROWS_FORMAT, number, contained, retainedFrom, tables: {}, listed: {} };
    for (const [key, value] of [createCutEntry(cut), createSmallPartsEntry(smallParts)])
      entries.set(Buffer.from(key).toString('hex'), value);
  }
  return { reader, isConverted: false, damages, close: async () => {} };
}

/** Converts the last checkpoint into a temporary store, as a start does. */
async function convert(
  files: PinnedFiles,
  site: { readonly folder: string; readonly site: string },
  tables: Tables,
): Promise<PinnedRows> {
  const { reader, close } = await openTemporaryStore();
  try {
    const options = { ...site, files, tables, store: reader, isNew: true, timing: nodeTiming };
    const damages = await new Promise<readonly string[]>((resolve, reject) => {
      convertCheckpoint(options, (error, conversion) => {
        if (conversion === undefined) reject(error ?? new Error('the conversion has failed'));
        else resolve(conversion.damages);
      });
    });
    return { reader, isConverted: false, damages, close };
  } catch (error) {
    await close();
    throw error;
  }
}
