/** What the files in a site's folder are called, and what their first frames say. */

/** The number that every log segment and checkpoint file of a site has; later ones have larger ones. */
export function segmentName(number: number): string {
  return `${padded(number)}.log`;
}

export function checkpointName(number: number): string {
  return `${padded(number)}.checkpoint`;
}

/** The numbers of the files with this ending, in order. */
export function numbersOf(names: readonly string[], ending: 'log' | 'checkpoint'): number[] {
  const pattern = new RegExp(`^(\\d{10})\\.${ending}$`);
  return names.flatMap((name) => pattern.exec(name)?.slice(1).map(Number) ?? []).toSorted((a, b) => a - b);
}

function padded(number: number): string {
  return String(number).padStart(10, '0');
}

/** Version of the format of logs and checkpoints. */
export const FORMAT = 4;

/** The first frame of a segment: where the entries in it stand in the logs. */
export interface SegmentHeader {
  readonly format: number;
  readonly local: number;
  readonly red: number;
}
