/** Reads one log file: its entries, and whether it ends as after a crash or was damaged later. */
import { HEADER_BYTES, decodeFrames, findFrames } from './frames.ts';
import { countEntry, type LogCounts, type LogPositions } from '../../../log/log-positions.ts';
import { FORMAT_VERSION, type SegmentHeader } from './file-names.ts';
import { unpackEntries, type LoggedEntry } from './packed-entries.ts';

/** The part of a file that is unreadable although it was on the disk once. */
export interface LogDamage {
  /** The first byte that is unreadable. */
  readonly position: number;
  /** The number of unreadable frames, and of readable ones after them. */
  readonly frames: { readonly lost: number; readonly later: number };
  /** Entries in the later frames. */
  readonly laterEntries: LogPositions;
}

export interface FoundLog {
  /** `undefined` if the first frame is unreadable. */
  readonly header: SegmentHeader | undefined;
  /** The entries up to the first frame that is not whole. */
  readonly entries: readonly LoggedEntry[];
  readonly damage: LogDamage | undefined;
}

/**
 * Frames that may be in flight together: those of two writes, where the first write of a file has
 * the header too.
 */
const MAX_PENDING_FRAMES = 2;

export function readLog(bytes: Uint8Array, file: number): FoundLog {
  const entries: LoggedEntry[] = [];
  let header: SegmentHeader | undefined;
  let [index, position] = [0, 0];
  for (const payload of decodeFrames(bytes, file)) {
    if (index === 0) {
      header = JSON.parse(payload.toString()) as SegmentHeader;
      // This version cannot read the rest of a file in another format.
      if (header.format !== FORMAT_VERSION) return { header, entries, damage: undefined };
    } else for (const entry of unpackEntries(payload)) entries.push(entry);
    index += 1;
    position += HEADER_BYTES + payload.length;
  }
  return {
    header,
    entries,
    damage: findDamage(bytes, { file, index, position }),
  };
}

/**
 * A later frame proves that the frames before it were on the disk. So a crash cannot have lost
 * them.
 *
 * @param end where the first frame that is not whole begins
 */
export function findDamage(
  bytes: Uint8Array,
  end: {
    readonly file: number;
    readonly index: number;
    readonly position: number;
  },
): LogDamage | undefined {
  const later = [...findFrames(bytes, end)];
  const last = later.at(-1);
  const firstBegunAfter = Math.max(end.index, 1) + MAX_PENDING_FRAMES;
  const isProven = later.some(({ index, isSettled }) => isSettled || index >= firstBegunAfter);
  if (last === undefined || !isProven) return undefined;
  const laterEntries: LogCounts = { local: 0, red: 0 };
  for (const { payload } of later)
    for (const { log } of unpackEntries(payload)) countEntry(laterEntries, log);
  const lost = last.index + 1 - end.index - later.length;
  return {
    position: end.position,
    frames: { lost, later: later.length },
    laterEntries,
  };
}
