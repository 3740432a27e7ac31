/** The rows that `committing-process.ts` commits, as a reader finds them. */
import type { RowReader } from '../../../../../src/server/node/storage/rows/row-store.ts';

/** These have the number of the last commit. */
export const ROW_COUNT = 200;
/** Older rows are in so many slots, of which each commit replaces one. */
export const SLOTS = 400;

export function getRowKey(row: number): Uint8Array {
  return Buffer.from(`row ${row}`);
}

export function getHistoryKey(slot: number, row: number): Uint8Array {
  return Buffer.from(`history ${slot} ${row}`);
}

/** Returns the numbers of the commits that have written the rows. */
export function readNumbers(reader: RowReader): readonly number[] {
  const numbers = Array.from({ length: ROW_COUNT }, (_, row) => readNumber(reader, getRowKey(row)));
  return [...new Set(numbers)];
}

function readNumber(reader: RowReader, key: Uint8Array): number {
  const value = reader.get(key);
  return value === undefined ? 0 : Number.parseInt(Buffer.from(value).toString('latin1'), 10);
}

/** Returns the older rows that are not those of the last commits before `number`. */
export function findWrongHistory(reader: RowReader, number: number): readonly string[] {
  const slots = Array.from({ length: SLOTS }, (_, slot) => slot);
  return slots.flatMap((slot) => {
    const age = (number - slot + SLOTS) % SLOTS;
    const expected = number - age;
    const found = readNumber(reader, getHistoryKey(slot, 0));
    const isRight = found === (expected <= 0 ? 0 : expected);
    return isRight ? [] : [`slot ${slot} has ${found}, and not ${expected}`];
  });
}
