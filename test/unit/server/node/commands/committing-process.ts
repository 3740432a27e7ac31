/**
 * Commits to the store of rows in the folder that it is given, without a pause: `node --import tsx
 * committing-process.ts <folder>`. It sends the number of each commit once that is on the disk.
 */
import { randomBytes } from 'node:crypto';
import { LevelRowStore } from '../../../../../src/server/node/storage/rows/level-row-store.ts';
import {
  createCutEntry,
  ROWS_FORMAT,
} from '../../../../../src/server/node/storage/rows/saved-state.ts';
import { commit } from '../../../../row-stores/commit.ts';
import { getHistoryKey, getRowKey, ROW_COUNT, SLOTS } from './committed-rows.ts';

const HISTORY_PER_COMMIT = 40;
const ROW_BYTES = 1000;

const store = await LevelRowStore.open(process.argv[2] as string);
for (let number = 1; ; number += 1) {
  const positions = { local: number, red: number };
  const cut = {
    format: ROWS_FORMAT,
    number,
    contained: positions,
    retainedFrom: positions,
    tables: {},
    listed: {},
  };
  // Every commit replaces all rows. Older rows make the store larger, so that it compacts all the
  // time.
  const rows = Array.from({ length: ROW_COUNT }, (_, row) => getRowKey(row));
  const history = Array.from({ length: HISTORY_PER_COMMIT }, (_, row) =>
    getHistoryKey(number % SLOTS, row),
  );
  const puts = [...rows, ...history].map((key) => [key, createValue(number)] as const);
  await commit(store, { puts: [...puts, createCutEntry(cut)], removals: [] });
  process.send?.(number);
}

/** Returns a value that does not compress. */
function createValue(number: number): Buffer {
  return Buffer.concat([Buffer.from(`${number} `), randomBytes(ROW_BYTES)]);
}
