/** Estimates how many bytes a transfer has, which only a walk over all rows would show. */
import { getPart } from '../../service/records/checkpoint.ts';
import { formatRow } from '../storage/format/checkpoint-file.ts';
import { walkSaved, type SavedCommit } from '../storage/rows/saved-walk.ts';

/** Reading so many rows of each table takes little of a turn. A row may have many parts. */
const SAMPLE_ROWS = 16;
const MAX_SAMPLE_BYTES = 1024 * 1024;
/** The header, and the small part of the state. */
const OTHER_BYTES = 1024;

/**
 * Estimates the bytes of the shared part of a commit by the first rows of each table and section.
 *
 * @throws Error if one of them is missing or damaged
 */
export function estimateTransferBytes({ cut, reader }: SavedCommit): number {
  let bytes = OTHER_BYTES;
  for (const [table, orders] of Object.entries(cut.tables)) {
    const commit = { cut: { tables: { [table]: orders }, listed: {} }, reader };
    bytes += estimate(commit, orders['keys'] ?? 0);
  }
  for (const [section, count] of Object.entries(cut.listed)) {
    if (getPart(section) !== 'shared') continue;
    bytes += estimate({ cut: { tables: {}, listed: { [section]: count } }, reader }, count);
  }
  return Math.round(bytes);
}

/** Estimates the bytes of so many rows, which the commit has. */
function estimate(commit: SavedCommit, rowCount: number): number {
  let [rows, bytes] = [0, 0];
  for (const { section, name, value, next } of walkSaved(commit)) {
    // The parts of a row are no rows themselves.
    const isRow = next.count === 1;
    if (bytes > MAX_SAMPLE_BYTES || (isRow && rows === SAMPLE_ROWS)) break;
    if (isRow) rows += 1;
    bytes += formatRow([section, name, value]).length + 1;
  }
  return rows === 0 ? 0 : (bytes * Math.max(rows, rowCount)) / rows;
}
