/**
 * A checkpoint file contains changed rows of the sections, and *commits*. All rows before a commit
 * make a state: later rows replace earlier ones. A commit has the checksum of all before it, and
 * its positions in the logs.
 */
import type { LogPositions } from '../../../log/log-positions.ts';
import { FRAME_DEPTH, encodeValue } from './value-text.ts';

/** A row in a frame. Without a value, the row is gone. */
export type CheckpointRow = readonly [section: string, name: string, value?: unknown];

export interface CheckpointCommit {
  readonly smallParts: unknown;
  readonly contained: LogPositions;
  /** From here on, other sites may lack entries, so the logs keep them. */
  readonly retainedFrom: LogPositions;
  /** Checksum of the payloads before it. */
  readonly sum: number;
}

const ROW_DEPTH = FRAME_DEPTH + 2;

export function formatRow(row: CheckpointRow): string {
  return encodeValue(row, ROW_DEPTH);
}

export function formatRows(rows: readonly string[]): string {
  return `{"rows":[${rows.join(',')}]}`;
}

/** @param smallParts as `encodeValue` formats them */
export function formatCommit(
  rows: readonly string[],
  { smallParts, contained, retainedFrom, sum }: CheckpointCommit & { readonly smallParts: string },
): string {
  const positions = `"contained":${encodeValue(contained)},"retainedFrom":${encodeValue(retainedFrom)}`;
  return `{"rows":[${rows.join(',')}],${positions},"sum":${sum},"smallParts":${smallParts}}`;
}
