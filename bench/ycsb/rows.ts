/** YCSB's records: a key and ten fields of 100 bytes. */
import type { Random } from '../../demo/shared/random.ts';
import { fnvHash64 } from './fnv.ts';

export const FIELDS = 10;
export const FIELD_BYTES = 100;

/** The columns of the fields, as YCSB names them. */
export const FIELD_NAMES: readonly string[] = Array.from({ length: FIELDS }, (_, n) => `field${n}`);

/** Returns the key of a record by its number, with YCSB's hashed order of inserts. */
export function keyOf(record: number): string {
  return `user${fnvHash64(record)}`;
}

/** The first of the characters in values: from the space to the tilde, as in YCSB. */
const FIRST = 0x20;
const CHARACTERS = 95;

/**
 * Returns a value of one field: `tag`, which distinguishes it from all others, then random
 * characters.
 */
export function fieldValue(random: Random, tag: string): string {
  const codes = Array.from(
    { length: FIELD_BYTES - tag.length - 1 },
    () => FIRST + Math.floor(random() * CHARACTERS),
  );
  return `${tag} ${String.fromCharCode(...codes)}`;
}

/** Returns the tag of a value made by `fieldValue`. */
export function tagOf(value: string): string {
  return value.slice(0, value.indexOf(' '));
}
