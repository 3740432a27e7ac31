/** Files of a site as versions before the store of rows have written them. */
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { gunzipSync } from 'node:zlib';
import type { LogPositions } from '../../src/server/log/log-positions.ts';
import {
  formatCommit,
  formatRow,
  formatRows,
  type CheckpointRow,
} from '../../src/server/node/storage/format/checkpoint-file.ts';
import {
  FORMAT_VERSION,
  type SegmentHeader,
} from '../../src/server/node/storage/format/file-names.ts';
import { encodeFrame, HEADER_BYTES } from '../../src/server/node/storage/format/frames.ts';
import { decodeValue, encodeValue } from '../../src/server/node/storage/format/value-text.ts';

export interface WrittenCommit {
  /** Its frames. Each has some rows. */
  readonly frames: readonly (readonly CheckpointRow[])[];
  readonly smallParts?: unknown;
  readonly contained?: LogPositions;
  readonly retainedFrom?: LogPositions;
}

/** Creates a checkpoint file. */
export function createCheckpointFile(file: number, commits: readonly WrittenCommit[]): Buffer {
  const written: Buffer[] = [];
  let sum = 0;
  const add = (payload: string): void => {
    const frame = encodeFrame(payload, { file, index: written.length });
    sum = crc32(frame.subarray(HEADER_BYTES), sum);
    written.push(frame);
  };
  add(encodeValue({ format: FORMAT_VERSION }));
  for (const { frames, smallParts = { shared: {}, own: {} }, ...positions } of commits) {
    const all = frames.map((rows) => rows.map(formatRow));
    for (const rows of all.slice(0, -1)) add(formatRows(rows));
    const { contained = { local: 0, red: 0 }, retainedFrom = contained } = positions;
    const commit = { smallParts: encodeValue(smallParts), contained, retainedFrom, sum };
    add(formatCommit(all.at(-1) ?? [], commit));
  }
  return Buffer.concat(written);
}

/** Creates a log file without entries. */
export function createLogFile(
  file: number,
  header: Omit<SegmentHeader, 'format' | 'term'>,
): Buffer {
  const text = JSON.stringify({ format: FORMAT_VERSION, term: file, ...header });
  return encodeFrame(text, { file, index: 0 });
}

/** A directory of a deployment with the sites ireland and virginia, and what its sites have. */
export interface OldDirectory {
  /** The bytes of the files by their paths. Each checkpoint has a second copy, which is equal. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly expected: Readonly<Record<string, OldSite>>;
}

/** What the version before has read of a site. */
export interface OldSite {
  readonly sections: readonly (readonly [string, readonly (readonly [string, unknown])[]])[];
  readonly smallParts: unknown;
  readonly lastCheckpoint: LogPositions & { readonly file: number };
  readonly lengths: LogPositions;
}

/**
 * Reads a directory that the version before has written, with the service of
 * `all-kinds-service.ts` and a partition `eu`. Each checkpoint file has two commits: the second one
 * has removed rows and parts of a queue.
 */
export function readOldDirectory(): OldDirectory {
  const path = new URL('../fixtures/directory-before-rows.json.gz', import.meta.url);
  const { files, expected } = JSON.parse(gunzipSync(readFileSync(path)).toString()) as {
    files: Record<string, string>;
    expected: Record<string, unknown>;
  };
  const all = Object.entries(files).flatMap(([name, text]) => {
    const bytes = Buffer.from(text, 'base64');
    const isCheckpoint = name.endsWith('.checkpoint');
    const copies = isCheckpoint ? [name, `${name}-copy`] : [name];
    return copies.map((copy) => [copy, bytes] as const);
  });
  const sites = Object.entries(expected).map(
    ([site, saved]) => [site, decodeValue(JSON.stringify(saved)) as OldSite] as const,
  );
  return { files: new Map(all), expected: Object.fromEntries(sites) };
}
