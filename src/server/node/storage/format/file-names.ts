/** The names of the files in a site's directory, and the content of their first frames. */
import type { LogPositions } from '../../../log/log-positions.ts';

/**
 * Returns the directory of a site's files in a data directory. All its logs are in the same files.
 */
export function getLogDirectory(site: string): string {
  return `sites/${site}`;
}

/** The folder of the store of rows, in the directory of a site. */
export const ROWS_FOLDER = 'rows';

/** The kinds of files of a site, by their extensions. */
type FileExtension = 'log' | 'checkpoint' | 'checkpoint-copy';

/**
 * Returns the name of a file. Every log segment and checkpoint has a number, and later ones have
 * larger numbers.
 */
export function formatFileName(number: number, ending: FileExtension): string {
  return `${String(number).padStart(10, '0')}.${ending}`;
}

export const formatSegmentName = (number: number): string => formatFileName(number, 'log');

export const formatCheckpointName = (number: number): string =>
  formatFileName(number, 'checkpoint');

/** Returns the name of the second copy of a checkpoint. */
export const formatCheckpointCopyName = (number: number): string =>
  formatFileName(number, 'checkpoint-copy');

/** Returns the numbers of the files with this extension, in order. */
export function parseFileNumbers(names: readonly string[], ending: FileExtension): number[] {
  const pattern = new RegExp(`^(\\d{10})\\.${ending}$`);
  return names
    .flatMap((name) => pattern.exec(name)?.slice(1).map(Number) ?? [])
    .toSorted((a, b) => a - b);
}

/**
 * The format that is written and read. The manifest, each log and checkpoint file, and each group
 * of entries contain it.
 */
export const FORMAT_VERSION = 2;

/** Describes data in another format. */
export function describeFormat(format: number): string {
  const problem = `has format ${format}, and this version reads format ${FORMAT_VERSION}`;
  return format > FORMAT_VERSION ? `${problem}: it needs a newer version` : problem;
}

/** The first frame of a segment: the positions of its entries in the logs. */
export interface SegmentHeader extends LogPositions {
  readonly format: number;
  /** The term of the writer: the number of the first file of its start. */
  readonly term: number;
  /** The name of the site that owns it. Without a name, any site may read it. */
  readonly site?: string;
  /** The last checkpoint when the file was created, and its positions in the logs. */
  readonly checkpoint?: LogPositions & { readonly file: number };
}

/** A complete segment, and the positions of its first entries in the logs. */
export interface Segment extends LogPositions {
  readonly number: number;
}
