/**
 * What the files in a site's directory are called, and what their first frames
 * say.
 */

/**
 * The directory of a site's logs and checkpoints in a data directory: both logs
 * lie in the same files.
 */
export function getLogDirectory(site: string): string {
  return `sites/${site}`;
}

/** The files of a site by their endings. */
type FileExtension = 'log' | 'checkpoint' | 'checkpoint-copy';

/**
 * The name of the file with this number: every log segment and checkpoint has
 * one; later ones have larger ones.
 */
export function formatFileName(number: number, ending: FileExtension): string {
  return `${String(number).padStart(10, '0')}.${ending}`;
}

export const formatSegmentName = (number: number): string =>
  formatFileName(number, 'log');

export const formatCheckpointName = (number: number): string =>
  formatFileName(number, 'checkpoint');

/** The other file with the same checkpoint. */
export const formatCheckpointCopyName = (number: number): string =>
  formatFileName(number, 'checkpoint-copy');

/** The numbers of the files with this ending, in order. */
export function parseFileNumbers(
  names: readonly string[],
  ending: FileExtension,
): number[] {
  const pattern = new RegExp(`^(\\d{10})\\.${ending}$`);
  return names
    .flatMap((name) => pattern.exec(name)?.slice(1).map(Number) ?? [])
    .toSorted((a, b) => a - b);
}

/**
 * The version that is written and read. The manifest, each log and checkpoint
 * file, and each group of entries has it.
 */
export const FORMAT_VERSION = 2;

/** What is wrong with what was written in another format. */
export function describeFormat(format: number): string {
  const problem = `has format ${format}, and this version reads format ${FORMAT_VERSION}`;
  return format > FORMAT_VERSION
    ? `${problem}: it needs a newer version`
    : problem;
}

/** The first frame of a segment: where the entries in it stand in the logs. */
export interface SegmentHeader {
  readonly format: number;
  /** The term of the writer: the number of the first file of its start. */
  readonly term: number;
  /** The name of the site that owns it. Without one, any site may. */
  readonly site?: string;
  readonly local: number;
  readonly red: number;
  /**
   * The last checkpoint when the file was begun, and the places in the logs at
   * which it stands.
   */
  readonly checkpoint?: {
    readonly file: number;
    readonly local: number;
    readonly red: number;
  };
}

/** A segment that is complete, and where its entries begin in the logs. */
export interface Segment {
  readonly number: number;
  readonly local: number;
  readonly red: number;
}
