/** The rows of sections as a batch gets them. */
import type { Section } from '../../../service/records/checkpoint.ts';
import type { ReadRange } from '../../../service/records/read-range.ts';
import type { StoredOrder } from '../../../service/state/stored-order.ts';
import { DEFAULT_STORAGE_SIZES, type StorageSizes } from '../storage-sizes.ts';
import type { EntryKey } from './row-store.ts';
import { getNamesSection, getRowKey } from './saved-state.ts';

type ClosedRows = Pick<Section, 'takeClosed'>;

/** A row for a batch. Without a value, the row is gone. */
export interface DraftRow {
  readonly key: EntryKey;
  readonly name: string;
  readonly value: unknown;
}

/** Takes all closed rows, a few at a time. */
export function* takeRows(
  section: string,
  from: ClosedRows,
  { maxRequestedRows, onExceeded }: StorageSizes = DEFAULT_STORAGE_SIZES,
): Generator<DraftRow, void> {
  let rows = from.takeClosed(maxRequestedRows);
  for (; rows.length > 0; rows = from.takeClosed(maxRequestedRows)) {
    if (rows.length === maxRequestedRows) onExceeded?.('maxRequestedRows');
    for (const [name, value] of rows) yield { key: getRowKey(section, name), name, value };
  }
}

interface ListedSource {
  /** Opens the order of the names that the store has. */
  openSaved(): StoredOrder;
  /** Whether the section gives all its rows. Then the store loses the others. */
  readonly isWhole: boolean;
  readonly sizes: StorageSizes;
}

/**
 * Takes all closed rows of a section that does not know which rows the store has, and the changes
 * of the order of their names. Returns the number of rows.
 */
export function* takeListed(
  section: string,
  from: ClosedRows,
  { openSaved, isWhole, sizes }: ListedSource,
): Generator<DraftRow, number> {
  const names = openSaved();
  const kept = new Set<string>();
  for (const row of takeRows(section, from, sizes)) {
    const { name, value } = row;
    // The store loses it below, with all rows that the section does not give.
    if (isWhole && value === undefined) continue;
    const entry = { key: name, value: name };
    const isSaved = names.isSaved(entry);
    if (value !== undefined && isWhole) kept.add(name);
    if (value !== undefined && !isSaved) names.add(entry);
    if (value === undefined && isSaved) names.delete(entry);
    if (value !== undefined || isSaved) yield row;
  }
  if (isWhole)
    for (const entry of openSaved().scan(ALL)) {
      if (kept.has(entry.key)) continue;
      names.delete(entry);
      yield { key: getRowKey(section, entry.key), name: entry.key, value: undefined };
    }
  names.closeChanges();
  yield* takeRows(getNamesSection(section), names, sizes);
  return names.size;
}

const ALL: ReadRange = { table: '' };
