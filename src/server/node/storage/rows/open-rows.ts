/** Opens the store of rows of a site at a start, with the rows of the version before in it. */
import { CorrectableError } from '../../../../correctable/errors.ts';
import { isNoSpace, type Files } from '../disk/files.ts';
import { ROWS_FOLDER } from '../format/file-names.ts';
import { unreadableError } from '../recovery.ts';
import {
  convertCheckpoint,
  type Conversion,
  type ConversionOptions,
} from './convert-checkpoint.ts';
import type { RowStore, RowStores } from './row-store.ts';

export interface OpenRowsOptions extends Omit<ConversionOptions, 'store' | 'isNew'> {
  readonly files: Files;
  /** Their folders are relative to `files`. */
  readonly rows: RowStores;
}

/** The opened store, and what is left to do with the files of the version before. */
export interface OpenedRows extends Omit<Conversion, 'isStoreOld'> {
  readonly store: RowStore;
}

type OnOpened = (error: Error | undefined, opened?: OpenedRows) => void;

/**
 * Opens the store, and converts checkpoint files of the version before. A store without a cut is
 * emptied first, since a conversion or an import that has not ended may have left rows in it: but
 * only if nothing is lost by that.
 *
 * `done` gets an `UNAVAILABLE` error if the store cannot be opened, or as `convertCheckpoint`. Then
 * the store is closed.
 */
export function openRows(options: OpenRowsOptions, done: OnOpened): void {
  const { files, folder, rows } = options;
  const rowsFolder = `${folder}/${ROWS_FOLDER}`;
  const fail = (error: Error | undefined): void =>
    done(explain(error ?? new Error('it cannot be opened'), rowsFolder));
  const isNew = files.list(rowsFolder).length === 0;
  rows.open(rowsFolder, (error, store) => {
    if (store === undefined) return fail(error);
    convertCheckpoint({ ...options, store, isNew }, (failure, conversion) => {
      if (conversion === undefined) return closeAndThen(store, () => fail(failure));
      const { isStoreOld, ...others } = conversion;
      if (!isStoreOld) return done(undefined, { store, ...others });
      closeAndThen(store, () =>
        rows.remove(rowsFolder, (problem) => {
          if (problem !== undefined) return fail(problem);
          openRows(options, done);
        }),
      );
    });
  });
}

function closeAndThen(store: RowStore, run: () => void): void {
  void store.close().then(run, run);
}

function explain(error: Error, folder: string): Error {
  if (error instanceof CorrectableError) return error;
  const refuse = (problem: string): Error => {
    const message = `The site cannot start: ${problem}. Nothing was changed.`;
    return new CorrectableError('UNAVAILABLE', message, { cause: error, field: 'dataDir' });
  };
  if ('code' in error && error.code === 'LEVEL_LOCKED')
    return refuse(`another process still has ${folder} open, and has to end first`);
  if (isNoSpace(error)) return refuse(`there is no room on the disk for ${folder}`);
  return unreadableError(`${folder}: ${error.message}`);
}
