/**
 * Damages the log files of a site while it is down, in addition to a crash: files disappear, bits
 * flip, an old version returns. A start must then fail, or lose nothing.
 *
 * Two things are left out, since no site can notice them from its own directory: damage to the last
 * frame of its last log file, which looks like a torn write, and the loss of that file as a whole.
 */
import {
  decodeFrames,
  findFrames,
  HEADER_BYTES,
} from '../../../server/node/storage/format/frames.ts';
import {
  parseFileNumbers,
  formatSegmentName,
} from '../../../server/node/storage/format/file-names.ts';
import { getLogKinds } from '../../../server/log/log-positions.ts';
import { getRecoveredLog, type RecoveredState } from '../../../server/log/recovered-state.ts';
import type { RecoveredSite } from '../../../server/node/storage/recovery.ts';
import { PropertyViolation } from '../checkers/checker.ts';
import type { Random } from '../../../server/service/collections/random.ts';

export type DirectoryFiles = ReadonlyMap<string, Uint8Array>;

export interface Damage {
  readonly kind: 'lost' | 'flipped' | 'old';
  readonly name: string;
}

/** The damaged file with its content afterwards. A removed file has none. */
export type DamageResult = Damage & { readonly bytes: Uint8Array | undefined };

/** Damages a file in one way. `old` has an earlier version of some files. */
export function drawDamage(
  files: DirectoryFiles,
  old: DirectoryFiles,
  random: Random,
): DamageResult | undefined {
  const last = findLastWrittenLog(files);
  const kind = random.pick(['lost', 'flipped', 'old'] as const);
  const eligible = [...files.keys()].filter((name) => {
    if (kind === 'flipped')
      return countProvenBytes(files.get(name) as Uint8Array, name, name === last) > 0;
    return name !== last && (kind === 'lost' || old.has(name));
  });
  const [first, ...rest] = eligible;
  if (first === undefined) return undefined;
  const chosen = random.pick([first, ...rest]);
  return { kind, name: chosen, bytes: change(chosen) };

  function change(name: string): Uint8Array | undefined {
    if (kind === 'lost') return undefined;
    if (kind === 'old') return old.get(name)?.slice();
    const bytes = (files.get(name) as Uint8Array).slice();
    const place = random.between(0, countProvenBytes(bytes, name, name === last) - 1);
    bytes[place] = (bytes[place] as number) ^ (1 << random.between(0, 7));
    return bytes;
  }
}

/** Fails if a damaged disk lacks something that was there before, and does not say so. */
export function checkNothingLost(stored: RecoveredState, undamaged: RecoveredSite): void {
  for (const log of getLogKinds(undamaged.lengths)) {
    const { start, entries } = getRecoveredLog(stored, log);
    const [has, had] = [start + entries.length, undamaged.lengths[log] ?? 0];
    const isKept = start <= (undamaged.retainedFrom[log] ?? 0);
    if (has === had && isKept) continue;
    throw new PropertyViolation(
      `a damaged disk had ${had} entries of the ${log} log, and ${has} of them, or less of what others need, without a word`,
      'damage',
    );
  }
}

function findLastWrittenLog(files: DirectoryFiles): string | undefined {
  const numbers = parseFileNumbers([...files.keys()], 'log').toReversed();
  return numbers
    .map(formatSegmentName)
    .find((name) => decodeFileFrames(files.get(name) as Uint8Array, name).length > 0);
}

/** Returns how many of a file's first bytes were provably on the disk. */
function countProvenBytes(bytes: Uint8Array, name: string, isLast: boolean): number {
  const lengths = decodeFileFrames(bytes, name);
  const wholeBytes = lengths.reduce((sum, length) => sum + length, 0);
  if (!isLast) return wholeBytes;
  const settled = [
    ...findFrames(bytes.subarray(0, wholeBytes), {
      file: parseFileNumber(name),
      index: 0,
      position: 0,
    }),
  ]
    .filter(({ isSettled }) => isSettled)
    .map(({ index }) => index);
  return lengths.slice(0, settled.at(-1) ?? 0).reduce((sum, length) => sum + length, 0);
}

function decodeFileFrames(bytes: Uint8Array, name: string): number[] {
  return [...decodeFrames(bytes, parseFileNumber(name))].map(
    (payload) => payload.length + HEADER_BYTES,
  );
}

function parseFileNumber(name: string): number {
  return Number.parseInt(name, 10);
}
