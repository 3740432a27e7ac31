/**
 * Imports a whole state into an empty store of rows, in bounded memory. The rows are written by
 * several commits. Nothing of them counts before the last one, which has the cut.
 */
import type { LogPositions } from '../../../log/log-positions.ts';
import { ImportedTables } from '../../../service/state/imported-tables.ts';
import { parseSavedName } from '../../../service/state/saved-names.ts';
import type { StoredOrder } from '../../../service/state/stored-order.ts';
import type { Tables } from '../../../service/tables.ts';
import { encodeValue } from '../format/value-text.ts';
import { takeRows, type DraftRow } from './draft-rows.ts';
import type { RowBatch, RowStore } from './row-store.ts';
import { runSteps, type RunStepsOptions, type Steps } from './run-steps.ts';
import {
  createCutEntry,
  createEntry,
  createSmallPartsEntry,
  getNamesSection,
  getRowKey,
  getSavedRows,
  openNames,
  ROWS_FORMAT,
  ROWS_SECTION,
  type SavedCut,
} from './saved-state.ts';

/** A row in the form of a checkpoint. */
export type ImportedRow = readonly [section: string, name: string, value: unknown];

/** A state as checkpoint files and transfers have it. */
export interface ImportedState {
  /** The rows of all sections. No two have the same name. They may be read twice. */
  readonly rows: Iterable<ImportedRow>;
  readonly smallParts: unknown;
  readonly contained: LogPositions;
  readonly retainedFrom: LogPositions;
  /** The number of the commit. */
  readonly number: number;
}

export interface ImportOptions {
  /** A store that has nothing. */
  readonly store: RowStore;
  /** The tables of the service, which decide what orders there are. */
  readonly tables: Tables;
  /** Called after each commit with the number of rows that the store has got. */
  onProgress?(rowCount: number): void;
  /** A commit is made from so many bytes on. Default: 16 MiB */
  readonly batchBytes?: number | undefined;
  /** Orders wait for a commit up to so many bytes. Default: 64 MiB */
  readonly orderBytes?: number | undefined;
  /** A chunk of an order of a table that would have more entries is split. Default: 512 */
  readonly maxChunk?: number | undefined;
}

const BATCH_BYTES = 16 * 2 ** 20;
/** Each commit of orders may rewrite all of them, so there should be few. */
const ORDER_BYTES = 64 * 2 ** 20;
/** About what a row of a batch takes beside its text. */
const ENTRY_BYTES = 128;
/** A row costs about so many characters more than it has. */
const ROW_CHARACTERS = 32;

/**
 * Imports a state. `done` gets the error of the store, or that of a row which the service cannot
 * read. Then the store has no cut.
 */
export function importState(
  state: ImportedState,
  options: ImportOptions & RunStepsOptions,
  done: (error: Error | undefined) => void,
  Writes: typeof ImportWrites = ImportWrites,
): void {
  runSteps(importInSteps(state, options, Writes), options, done);
}

/** As `importState`, as a part of longer work. */
export function* importInSteps(
  state: ImportedState,
  options: ImportOptions,
  Writes: typeof ImportWrites = ImportWrites,
): Steps {
  const writes = new Writes(state, options);
  let hasParts = false;
  for (const row of state.rows) {
    if (isPart(row)) hasParts = true;
    else yield* writes.add(row);
  }
  yield* writes.flush();
  if (hasParts) for (const row of state.rows) if (isPart(row)) yield* writes.add(row);
  yield* writes.flush({ isLast: true });
  yield* writes.check();
  yield* writes.commitCut();
}

/** A part says nothing before its row is in the store. */
function isPart([section, name]: ImportedRow): boolean {
  return section === ROWS_SECTION && parseSavedName(name).kind === 'part';
}

/** The commits of an import. Tests replace some methods. */
export class ImportWrites {
  readonly #state: ImportedState;
  readonly #options: ImportOptions;
  readonly #tables: ImportedTables;
  /** The names of the rows of each other section, and their number. */
  readonly #listed = new Map<string, { readonly names: StoredOrder; count: number }>();
  #batch: RowBatch | undefined;
  #bytes = 0;
  #rowCount = 0;

  constructor(state: ImportedState, options: ImportOptions) {
    const { tables, store, maxChunk } = options;
    this.#state = state;
    this.#options = options;
    this.#tables = new ImportedTables(tables, getSavedRows(store, ROWS_SECTION), maxChunk);
  }

  *add(row: ImportedRow): Steps {
    const [section, name] = row;
    const value = this.#prepare(row);
    this.#rowCount += 1;
    if (value !== undefined) yield this.#put({ key: getRowKey(section, name), name, value });
    if (this.#areOrdersFull) yield* this.flush();
    else yield* this.#commitIfLarge();
  }

  /**
   * Commits what was added.
   *
   * @param isLast whether the orders do not wait for more
   */
  *flush({ isLast = false } = {}): Steps {
    const { store, onProgress } = this.#options;
    const hasOrders = isLast || this.#areOrdersFull;
    if (hasOrders) yield* this.#putOrders();
    yield* this.#commitPuts();
    onProgress?.(this.#rowCount);
    if (!hasOrders) return;
    this.#tables.onCommitted(getSavedRows(store, ROWS_SECTION));
    for (const [section, { names }] of this.#listed)
      names.onCommitted(getSavedRows(store, getNamesSection(section)));
  }

  createBatch(): RowBatch {
    return this.#options.store.createBatch();
  }

  /** Compares the store with what was added. Throws if it lacks something. */
  *check(): Steps {
    const { store } = this.#options;
    yield* this.#tables.check(getSavedRows(store, ROWS_SECTION));
    for (const [section, { count }] of this.#listed) {
      const { size } = openNames(store, section);
      if (size !== count)
        throw new Error(`'${section}' has ${size} rows in its store, and had ${count}`);
    }
  }

  *commitCut(): Steps {
    const { smallParts } = this.#state;
    const batch = this.createBatch();
    batch.put(...createSmallPartsEntry(smallParts));
    batch.put(...createCutEntry(this.cut));
    yield batch;
  }

  get cut(): SavedCut {
    const { number, contained, retainedFrom } = this.#state;
    const { savedTables: tables } = this.#tables;
    const listed = Object.fromEntries([...this.#listed].map(([name, { count }]) => [name, count]));
    return { format: ROWS_FORMAT, number, contained, retainedFrom, tables, listed };
  }

  get #areOrdersFull(): boolean {
    const { orderBytes = ORDER_BYTES } = this.#options;
    let bytes = this.#tables.dirtyBytes;
    for (const { names } of this.#listed.values()) bytes += names.dirtyBytes;
    return bytes >= orderBytes;
  }

  /** Returns the row as the store gets it; `undefined` if it does not. */
  #prepare([section, name, value]: ImportedRow): unknown {
    if (section === ROWS_SECTION) {
      if (parseSavedName(name).kind === 'row') return this.#tables.addRow(name, value);
      return this.#tables.addPart(name, value) ? value : undefined;
    }
    const { store } = this.#options;
    const listed = this.#listed.get(section) ?? { names: openNames(store, section), count: 0 };
    this.#listed.set(section, listed);
    listed.names.add({ key: name, value: name });
    listed.count += 1;
    return value;
  }

  /** Nothing counts before the cut, so one commit need not have all changes of an order. */
  *#putOrders(): Steps {
    this.#tables.closeChanges();
    yield* this.#putAll(takeRows(ROWS_SECTION, this.#tables));
    for (const [section, { names }] of this.#listed) {
      names.closeChanges();
      yield* this.#putAll(takeRows(getNamesSection(section), names));
    }
  }

  *#putAll(rows: Iterable<DraftRow>): Steps {
    for (const row of rows) {
      yield this.#put(row);
      yield* this.#commitIfLarge();
    }
  }

  *#commitIfLarge(): Steps {
    const { batchBytes = BATCH_BYTES } = this.#options;
    if (this.#bytes < batchBytes) return;
    yield* this.#commitPuts();
    this.#options.onProgress?.(this.#rowCount);
  }

  *#commitPuts(): Steps {
    if (this.#batch !== undefined) yield this.#batch;
    this.#batch = undefined;
    this.#bytes = 0;
  }

  /** Returns about how many characters it has. A store that is empty need not lose rows. */
  #put({ key, value }: DraftRow): number {
    if (value === undefined) return 0;
    const text = encodeValue(value);
    this.#batch ??= this.createBatch();
    this.#batch.put(...createEntry(key, text));
    this.#bytes += key.length + text.length + ENTRY_BYTES;
    return text.length + ROW_CHARACTERS;
  }
}
