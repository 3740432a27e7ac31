/** Finds the last checkpoint file of a site, as versions before the store of rows wrote it. */
import type { ReadableFiles } from '../disk/files.ts';
import { summarizeCheckpoint, type ByteSource, type CheckpointSummary } from './checkpoint-rows.ts';
import { formatCheckpointCopyName, formatCheckpointName, parseFileNumbers } from './file-names.ts';

/** A checkpoint file with a commit. */
export interface LatestCheckpoint {
  readonly number: number;
  readonly path: string;
  readonly source: ByteSource;
  readonly summary: CheckpointSummary & { readonly last: NonNullable<CheckpointSummary['last']> };
}

export interface FoundCheckpoints {
  /** The newest file with a commit. Newer files were not finished, or are damaged. */
  readonly latest: LatestCheckpoint | undefined;
  /** Damaged or missing files. */
  readonly damages: readonly string[];
}

/** Returns the numbers of all checkpoint files, in order. */
export function getCheckpointNumbers(names: readonly string[]): number[] {
  const all = [
    ...parseFileNumbers(names, 'checkpoint'),
    ...parseFileNumbers(names, 'checkpoint-copy'),
  ];
  return [...new Set(all)].toSorted((a, b) => a - b);
}

/** Returns the names of all checkpoint files. */
export function listCheckpointFiles(names: readonly string[]): string[] {
  const all = getCheckpointNumbers(names).flatMap(getCopies);
  return all.filter((name) => names.includes(name));
}

/**
 * Returns the newest file with a commit, the copy with more commits if only one has all. Older
 * files were about to be removed. Yields about how many characters of work each step was.
 */
export function* findLatestCheckpoint(
  files: ReadableFiles,
  folder: string,
): Generator<number, FoundCheckpoints, void> {
  const names = files.list(folder);
  const damages: string[] = [];
  for (const number of getCheckpointNumbers(names).toReversed()) {
    let latest: LatestCheckpoint | undefined;
    const missing: string[] = [];
    for (const name of getCopies(number)) {
      const path = `${folder}/${name}`;
      if (!names.includes(name)) {
        missing.push(`${path} is gone`);
        continue;
      }
      const source: ByteSource = {
        read: (position, length) => files.readPart(path, position, length),
      };
      const summary = yield* summarizeCheckpoint(source, number);
      const { commits, last, damage } = summary;
      if (damage !== undefined) damages.push(`${path}: ${damage}`);
      if (last !== undefined && commits > (latest?.summary.commits ?? 0))
        latest = { number, path, source, summary: { ...summary, last } };
    }
    if (latest !== undefined) return { latest, damages: [...damages, ...missing] };
  }
  return { latest: undefined, damages };
}

function getCopies(number: number): string[] {
  return [formatCheckpointName(number), formatCheckpointCopyName(number)];
}
