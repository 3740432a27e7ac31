/**
 * What a store of rows has of a site, as one commit left it: the cut, and the rows of the sections.
 *
 * Rows of a *stored* section are read when they are needed, and the section knows their names
 * itself. Of the other sections, all rows are read at a start. Their names are in an order, so that
 * a row that the store lacks is noticed: no engine finds that by itself.
 */
import type {
  SavedRows,
  SavedSection,
  SavedTables,
  SectionRows,
} from '../../../service/records/checkpoint.ts';
import type { ReadRange } from '../../../service/records/read-range.ts';
import { ResidentCache } from '../../../service/state/resident-cache.ts';
import { StoredOrder } from '../../../service/state/stored-order.ts';
import type { LogPositions } from '../../../log/log-positions.ts';
import { decodeValue, encodeValue } from '../format/value-text.ts';
import type { EntryKey, RowReader } from './row-store.ts';
import { encodeKey, readSealed, readSealedIfAny, seal } from './sealed-entries.ts';

/** The part of a commit that is read first. */
export interface SavedCut {
  readonly format: number;
  /** Each commit has a larger number than those before it. */
  readonly number: number;
  /** The commit has the entries of the logs before these places. */
  readonly contained: LogPositions;
  /** From here on, other sites may lack entries, so the logs keep them. */
  readonly retainedFrom: LogPositions;
  /** The tables of the section `rows`, with their orders. */
  readonly tables: SavedTables;
  /** The other sections, with their numbers of rows. Their names are in orders of their own. */
  readonly listed: Readonly<Record<string, number>>;
}

/** The section whose rows are read when they are needed. */
export const ROWS_SECTION = 'rows';

/** What a store has of the rows before its first commit. */
export const NO_ROWS: SavedSection = { get: () => undefined, reportDamage };

/** The version of what the store has. */
export const ROWS_FORMAT = 1;

const ALL: ReadRange = { table: '' };
/** Each commit reads the chunks of the names that change once. */
const NAME_CACHE_BYTES = 1024 * 1024;

/** Reads the cut of the last commit; `undefined` if there was none. Throws if it is damaged. */
export function readCut(reader: RowReader): SavedCut | undefined {
  const saved = readSealedIfAny(reader, CUT_KEY);
  return saved === undefined ? undefined : (decode(saved) as SavedCut);
}

/** Reads the state beside the sections, of a store that has a cut. */
export function readSmallParts(reader: RowReader): unknown {
  return decode(readSealed(reader, SMALL_PARTS_KEY));
}

export function createCutEntry(cut: SavedCut): Entry {
  return createEntry(CUT_KEY, encodeValue(cut));
}

export function createSmallPartsEntry(smallParts: unknown): Entry {
  return createEntry(SMALL_PARTS_KEY, encodeValue(smallParts));
}

/** Returns the rows of a section, which are read one by one. */
export function getSavedRows(reader: RowReader, section: string): SavedRows {
  return {
    get(name) {
      const saved = readSealedIfAny(reader, getRowKey(section, name));
      return saved === undefined ? undefined : decode(saved);
    },
    reportDamage,
  };
}

function reportDamage(problem: string): never {
  throw new Error(problem);
}

/** Returns what a commit has of the section whose rows are read when they are needed. */
export function getStoredSection(reader: RowReader, { tables }: SavedCut): SavedSection {
  return { ...getSavedRows(reader, ROWS_SECTION), tables };
}

/** Reads all rows of a section whose names are in an order. Throws if one is missing. */
export function readSection(reader: RowReader, section: string, cut: SavedCut): SectionRows {
  const rows: SectionRows = new Map();
  for (const { key: name } of openListed(reader, section, cut).scan(ALL))
    rows.set(name, decode(readSealed(reader, getRowKey(section, name))));
  return rows;
}

/** Opens the order of the names of a section. Throws if it has not all of them. */
export function openListed(
  reader: RowReader,
  section: string,
  { listed }: Pick<SavedCut, 'listed'>,
): StoredOrder {
  return openNames(reader, section, listed[section] ?? 0);
}

/**
 * Opens the order of the names of a section.
 *
 * @param savedSize how many names the last commit has. Default: unchecked
 */
export function openNames(reader: RowReader, section: string, savedSize?: number): StoredOrder {
  return new StoredOrder({
    description: `'names' of '${section}'`,
    saved: getSavedRows(reader, getNamesSection(section)),
    savedSize,
    cache: new ResidentCache(NAME_CACHE_BYTES),
  });
}

/** Returns the name of the section that has the chunks of the names of another section. */
export function getNamesSection(section: string): string {
  return `names.${section}`;
}

/** Names of sections have no separator in them; those of rows may. */
export function getRowKey(section: string, name: string): EntryKey {
  return encodeKey('row', `${section}\u0000${name}`);
}

/** An entry of a batch. */
type Entry = readonly [key: EntryKey, value: Uint8Array];

export function createEntry(key: EntryKey, text: string): Entry {
  return [key, seal(key, Buffer.from(text))];
}

const CUT_KEY = encodeKey('cut', '');
const SMALL_PARTS_KEY = encodeKey('cut', 'small parts');

function decode(bytes: Uint8Array): unknown {
  return decodeValue(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
}
