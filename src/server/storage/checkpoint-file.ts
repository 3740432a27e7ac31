/**
 * Checkpoint files: rows of the sections as they change, and now and then a *commit* that says that all rows up to it,
 * the later ones over the earlier, make one state. What follows the last commit does not count. So a checkpoint costs
 * what has changed since the last one, and the file is begun anew when most of it is out of date.
 */
import type { Checkpoint } from '../redblue/checkpoint.ts';
import { decodeFrames } from './frames.ts';
import { FORMAT } from './names.ts';
import { fromText, toText } from './plain-text.ts';

/** A row in a frame; without a value it is gone. */
export type CheckpointRow = readonly [section: string, name: string, value?: unknown];

type CheckpointFrame =
  | { readonly format: number }
  | { readonly rows: readonly CheckpointRow[] }
  | { readonly rows: readonly CheckpointRow[]; readonly rest: unknown };

export function headerText(): string {
  return toText({ format: FORMAT });
}

export function rowsText(rows: readonly CheckpointRow[]): string {
  return toText({ rows });
}

export function commitText(rows: readonly CheckpointRow[], rest: unknown): string {
  return toText({ rows, rest });
}

/** The state at the last commit of a file; none where there is no commit. */
export function readCheckpoint(bytes: Uint8Array, file: number): Checkpoint | undefined {
  const sections: Record<string, Map<string, unknown>> = {};
  let checkpoint: Checkpoint | undefined;
  let uncommitted: CheckpointRow[] = [];
  for (const payload of decodeFrames(bytes, file)) {
    const frame = fromText(payload.toString()) as CheckpointFrame;
    if (!('rows' in frame)) continue;
    for (const row of frame.rows) uncommitted.push(row);
    if (!('rest' in frame)) continue;
    for (const row of uncommitted) applyRow(sections, row);
    uncommitted = [];
    checkpoint = { sections, rest: frame.rest };
  }
  return checkpoint;
}

function applyRow(sections: Record<string, Map<string, unknown>>, [section, name, ...value]: CheckpointRow): void {
  const rows = (sections[section] ??= new Map());
  if (value.length === 0) rows.delete(name);
  else rows.set(name, value[0]);
}
