/** What the files in a site's folder are called, and what their first frames say. */

/** The number that every log segment and checkpoint file of a site has; later ones have larger ones. */
export function segmentName(number: number): string {
  return `${padded(number)}.log`;
}

export function checkpointName(number: number): string {
  return `${padded(number)}.checkpoint`;
}

/** The other file with the same checkpoint. */
export function checkpointCopyName(number: number): string {
  return `${padded(number)}.checkpoint-copy`;
}

/** The numbers of the files with this ending, in order. */
export function numbersOf(names: readonly string[], ending: 'log' | 'checkpoint' | 'checkpoint-copy'): number[] {
  const pattern = new RegExp(`^(\\d{10})\\.${ending}$`);
  return names.flatMap((name) => pattern.exec(name)?.slice(1).map(Number) ?? []).toSorted((a, b) => a - b);
}

function padded(number: number): string {
  return String(number).padStart(10, '0');
}

/**
 * Version of the format of logs and checkpoints: 5 has settled frames, and checkpoints that say where they end; from 6 on
 * queues lie in parts, and red operations stand on others, of which earlier versions would decide otherwise.
 */
export const FORMAT = 6;
/** The oldest one that is read. */
export const FORMAT_MIN = 4;

export function isReadable(format: number): boolean {
  return format >= FORMAT_MIN && format <= FORMAT;
}

/** The first frame of a segment: where the entries in it stand in the logs. */
export interface SegmentHeader {
  readonly format: number;
  readonly local: number;
  readonly red: number;
  /** The last checkpoint when the file was begun, and the places in the logs at which it stands. */
  readonly checkpoint?: { readonly file: number; readonly local: number; readonly red: number };
}
