/** YCSB's records: a key and ten fields of 100 bytes. */
import type { Random } from '../../demo/shared/random.ts';
import { fnvHash64 } from './fnv.ts';

export const FIELDS = 10;
export const FIELD_BYTES = 100;

/** The columns of the fields, as YCSB names them. */
export const FIELD_NAMES: readonly string[] = Array.from({ length: FIELDS }, (_, n) => `field${n}`);

/** The key of a record, by number, with YCSB's hashed order of inserts. */
export function keyOf(record: number): string {
  return `user${fnvHash64(record)}`;
}

/** From the space to the tilde, as YCSB's values. */
const FIRST = 0x20;
const CHARACTERS = 95;

/** A value of one field: `tag`, which tells it from all others, then random characters. */
export function fieldValue(random: Random, tag: string): string {
  const codes = Array.from({ length: FIELD_BYTES - tag.length - 1 }, () => FIRST + Math.floor(random() * CHARACTERS));
  return `${tag} ${String.fromCharCode(...codes)}`;
}

/** The tag of a value made by `fieldValue`. */
export function tagOf(value: string): string {
  return value.slice(0, value.indexOf(' '));
}
