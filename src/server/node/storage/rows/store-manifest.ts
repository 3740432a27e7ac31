/**
 * Finds out which tables the manifest of a store of rows (LevelDB) names. A manifest is a file of
 * records. Each of them has changes of the set of tables, as fields with a tag.
 */

/** Names the manifest of a store. */
export const CURRENT_FILE = 'CURRENT';

const BLOCK_BYTES = 32 * 1024;
/** The checksum, the length (2 bytes) and the type of a part of a record. */
const HEADER_BYTES = 7;
const LENGTH_AT = 4;
const TYPE_AT = 6;
/** Parts of records do not cross the end of a block. */
const PART_TYPES = { whole: 1, first: 2, middle: 3, last: 4 };

const REMOVED_TABLE = 6;
const ADDED_TABLE = 7;
/** The values of a field by its tag: numbers, or bytes with their length before them. */
const FIELDS: Readonly<Record<number, readonly ('number' | 'bytes')[]>> = {
  1: ['bytes'],
  2: ['number'],
  3: ['number'],
  4: ['number'],
  5: ['number', 'bytes'],
  [REMOVED_TABLE]: ['number', 'number'],
  [ADDED_TABLE]: ['number', 'number', 'number', 'bytes', 'bytes'],
  9: ['number'],
};

/** Whether a file of a store is a table. */
export function isTable(name: string): boolean {
  return /\.(?:ldb|sst)$/.test(name);
}

/**
 * Returns the numbers of the tables. A record that is cut off at the end of the file is left out,
 * as LevelDB does it.
 *
 * @throws Error if anything else is wrong
 */
export function readTableNumbers(manifest: Uint8Array): ReadonlySet<number> {
  const numbers = new Set<number>();
  for (const record of readRecords(Buffer.from(manifest))) {
    const fields = [...readFields(record)];
    // A table that moves to another level is removed and added in one record.
    for (const { tag, table } of fields) if (tag === REMOVED_TABLE) numbers.delete(table);
    for (const { tag, table } of fields) if (tag === ADDED_TABLE) numbers.add(table);
  }
  return numbers;
}

function* readRecords(file: Buffer): Generator<Buffer, void> {
  let parts: Buffer[] = [];
  for (let at = 0; at + HEADER_BYTES <= file.length;) {
    const left = BLOCK_BYTES - (at % BLOCK_BYTES);
    if (left < HEADER_BYTES) {
      at += left;
      continue;
    }
    const type = file.readUInt8(at + TYPE_AT);
    const end = at + HEADER_BYTES + file.readUInt16LE(at + LENGTH_AT);
    if (end > file.length) return;
    const isStart = type === PART_TYPES.whole || type === PART_TYPES.first;
    const isPart = isStart || type === PART_TYPES.middle || type === PART_TYPES.last;
    if (!isPart || isStart !== (parts.length === 0)) throw new Error('the manifest is damaged');
    parts.push(file.subarray(at + HEADER_BYTES, end));
    at = end;
    if (type === PART_TYPES.first || type === PART_TYPES.middle) continue;
    yield Buffer.concat(parts);
    parts = [];
  }
}

interface Field {
  readonly tag: number;
  /** The second value, which is the number of a table if the tag is that of one. */
  readonly table: number;
}

function* readFields(record: Buffer): Generator<Field, void> {
  let at = 0;
  const readNumber = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = record.readUInt8(at);
      at += 1;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < record.length) {
    const tag = readNumber();
    const kinds = FIELDS[tag];
    if (kinds === undefined) throw new Error(`the manifest has a field ${tag}`);
    const values = kinds.map((kind) => {
      const value = readNumber();
      if (kind === 'bytes') at += value;
      return value;
    });
    yield { tag, table: values[1] ?? 0 };
  }
}
