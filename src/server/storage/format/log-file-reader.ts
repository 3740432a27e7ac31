/** Reads one log file: its entries, and whether it ends as after a crash or was damaged later. */
import { HEADER_BYTES, decodeFrames, findFrames, type LaterFrame } from './frames.ts';
import { FORMAT_VERSION, type SegmentHeader } from './file-names.ts';
import { unpackEntries, type LoggedEntry } from './packed-entries.ts';

/** What of a file cannot be read although it was on the disk once. */
export interface LogDamage {
  /** The first byte that cannot be read. */
  readonly position: number;
  /** The frames that cannot be read, and those behind them that can. */
  readonly frames: { readonly lost: number; readonly later: number };
  /** Entries in the frames behind. */
  readonly laterEntries: { readonly local: number; readonly red: number };
}

/** What a log file has. */
export interface FoundLog {
  /** None where the first frame cannot be read. */
  readonly header: SegmentHeader | undefined;
  /** Up to the first frame that is not whole. */
  readonly entries: readonly LoggedEntry[];
  readonly damage: LogDamage | undefined;
}

/** Frames that may be in flight at one time: those of two writes, of which the first of a file has the header too. */
const MAX_PENDING_FRAMES = 2;

/** Reads the bytes of a file. */
export function readLog(bytes: Uint8Array, file: number): FoundLog {
  const entries: LoggedEntry[] = [];
  let header: SegmentHeader | undefined;
  let [index, position] = [0, 0];
  for (const payload of decodeFrames(bytes, file)) {
    if (index === 0) {
      header = JSON.parse(payload.toString()) as SegmentHeader;
      // What else stands in it is not for this version to read.
      if (header.format !== FORMAT_VERSION) return { header, entries, damage: undefined };
    } else for (const entry of unpackEntries(payload)) entries.push(entry);
    index += 1;
    position += HEADER_BYTES + payload.length;
  }
  return { header, entries, damage: findDamage(bytes, { file, index, position }) };
}

/**
 * A crash loses what was in flight, and may leave what was in flight behind it. What a later frame proves to have been on
 * the disk before is lost by something else.
 */
function findDamage(
  bytes: Uint8Array,
  end: { readonly file: number; readonly index: number; readonly position: number },
): LogDamage | undefined {
  const later = [...findFrames(bytes, end)];
  const last = later.at(-1);
  if (last === undefined || !later.some((frame) => provesDamage(frame, end.index))) return undefined;
  const laterEntries = { local: 0, red: 0 };
  for (const { payload } of later) for (const { log } of unpackEntries(payload)) laterEntries[log] += 1;
  const lost = last.index + 1 - end.index - later.length;
  return { position: end.position, frames: { lost, later: later.length }, laterEntries };
}

function provesDamage({ index, isSettled }: LaterFrame, missing: number): boolean {
  const firstBegunAfter = Math.max(missing, 1) + MAX_PENDING_FRAMES;
  return isSettled || index >= firstBegunAfter;
}
