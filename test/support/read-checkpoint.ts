/** Reads a checkpoint file at once, with a map in memory. The server reads it in passes instead. */
import { crc32 } from 'node:zlib';
import type { LogPositions } from '../../src/server/log/log-positions.ts';
import type {
  CheckpointCommit,
  CheckpointRow,
} from '../../src/server/node/storage/format/checkpoint-file.ts';
import { FORMAT_VERSION } from '../../src/server/node/storage/format/file-names.ts';
import {
  decodeFrames,
  findFrames,
  HEADER_BYTES,
} from '../../src/server/node/storage/format/frames.ts';
import { decodeValue } from '../../src/server/node/storage/format/value-text.ts';
import type { Checkpoint } from '../../src/server/service/records/checkpoint.ts';

type CheckpointFrame =
  | { readonly format: number }
  | { readonly rows: readonly CheckpointRow[] }
  | ({ readonly rows: readonly CheckpointRow[] } & CheckpointCommit);

export interface FoundCheckpoint {
  /** The state at the last commit; `undefined` without a commit. */
  readonly checkpoint: Checkpoint | undefined;
  /** The log positions of the last commit. */
  readonly contained: LogPositions | undefined;
  /** From these positions on, the logs must exist, according to the last commit. */
  readonly retainedFrom: LogPositions | undefined;
  readonly commits: number;
  /** Why a part is unreadable that was on the disk once. */
  readonly damage: string | undefined;
}

const NO_COMMIT = {
  checkpoint: undefined,
  contained: undefined,
  retainedFrom: undefined,
  commits: 0,
};

export function readCheckpoint(bytes: Uint8Array, file: number): FoundCheckpoint {
  const sections: Record<string, Map<string, unknown>> = {};
  let last: Omit<FoundCheckpoint, 'damage'> = NO_COMMIT;
  let uncommitted: CheckpointRow[] = [];
  let [sum, index, position] = [0, 0, 0];
  for (const payload of decodeFrames(bytes, file)) {
    const frame = decodeValue(payload.toString()) as CheckpointFrame;
    if ('smallParts' in frame && frame.sum !== sum) {
      return {
        ...last,
        damage: `its commit ${last.commits + 1} is not of what stands before it`,
      };
    }
    sum = crc32(payload, sum);
    index += 1;
    position += HEADER_BYTES + payload.length;
    if ('format' in frame && frame.format !== FORMAT_VERSION)
      return { ...last, damage: `it has format ${frame.format}` };
    if (!('rows' in frame)) continue;
    for (const row of frame.rows) uncommitted.push(row);
    if (!('smallParts' in frame)) continue;
    for (const row of uncommitted) applyRow(sections, row);
    uncommitted = [];
    const { smallParts, contained, retainedFrom } = frame;
    last = {
      checkpoint: { sections, smallParts },
      contained,
      retainedFrom,
      commits: last.commits + 1,
    };
  }
  // Frames are written one after the other. So a later frame proves that those before it were
  // whole.
  const isDamaged = findFrames(bytes, { file, index, position }).next().done !== true;
  return {
    ...last,
    damage: isDamaged ? `it is damaged at byte ${position}` : undefined,
  };
}

function applyRow(
  sections: Record<string, Map<string, unknown>>,
  [section, name, ...value]: CheckpointRow,
): void {
  const rows = (sections[section] ??= new Map());
  if (value.length === 0) rows.delete(name);
  else rows.set(name, value[0]);
}
