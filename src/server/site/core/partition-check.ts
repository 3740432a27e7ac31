/**
 * Finds the partitions whose rows an execution reads or writes. A red write with rows of several
 * partitions is executed as a global. A strong read with such rows is checked in each of their
 * logs.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import { parseName, type ReadSet } from '../../service/generator/read-set.ts';
import type { Effect } from '../../service/records/effect.ts';
import type { ReadRange } from '../../service/records/read-range.ts';
import type { Choice } from '../../service/records/reply.ts';
import type { Partitions } from '../../service/partitions.ts';
import { BY_KEY, type Tables } from '../../service/tables.ts';

/** What an execution has read, and what it writes. */
export interface PartitionedRun {
  readonly reads: ReadSet;
  readonly choice: Choice | undefined;
}

/** The name of an operation, and the ordinal of its home partition. */
interface HomedOperation {
  readonly name: string;
  readonly home: number;
}

export class PartitionCheck {
  readonly #partitions: Partitions;
  readonly #tables: Tables;

  constructor(partitions: Partitions, tables: Tables) {
    this.#partitions = partitions;
    this.#tables = tables;
  }

  /**
   * Returns the ordinals of the partitions beside its home with rows of an execution, ascending.
   *
   * @throws CorrectableError `FINAL_FAILED` if no log orders a row that it changes
   */
  findOthers({ choice, reads }: PartitionedRun, { name, home }: HomedOperation): readonly number[] {
    const unordered = choice?.effects.find(
      ({ table, key }) => this.#partitions.ofRow(table, key) === undefined,
    );
    if (unordered !== undefined) throw unorderedError(name, unordered);
    const touched = new Set<number>();
    for (const { table, key } of choice?.effects ?? []) this.#addRow(touched, table, key);
    for (const item of reads.names) this.#addName(touched, item);
    for (const range of reads.ranges) this.#addRange(touched, range);
    touched.delete(home);
    return [...touched].toSorted((a, b) => a - b);
  }

  #addName(touched: Set<number>, name: string): void {
    const { table, key } = parseName(name);
    if (key === undefined) this.#addRange(touched, { table });
    else this.#addRow(touched, table, key);
  }

  #addRow(touched: Set<number>, table: string, key: string): void {
    const partition = this.#partitions.ofRow(table, key);
    if (partition !== undefined) touched.add(partition);
  }

  /** An interval of keys may be inside one partition. Others are in all. */
  #addRange(touched: Set<number>, range: ReadRange): void {
    const { table } = range;
    if (this.#tables[table]?.partition !== BY_KEY) return this.#addRow(touched, table, '');
    const key = findCommonPrefix(range);
    if (key !== undefined) return this.#addRow(touched, table, key);
    for (const partition of this.#partitions.names.keys()) touched.add(partition);
  }
}

/** The first character behind the one that ends a prefix. */
const PREFIX_END = '/';
const BEHIND_PREFIX = '0';

/** Returns the text up to the first `/`, if all keys of an interval begin with the same. */
function findCommonPrefix({ field, from, before, upTo }: ReadRange): string | undefined {
  if (field !== undefined || typeof from !== 'string') return undefined;
  const end = from.indexOf(PREFIX_END);
  if (end < 0) return upTo === from ? from : undefined;
  const behind = from.slice(0, end) + BEHIND_PREFIX;
  const isInside =
    (typeof before === 'string' && before <= behind) || (typeof upTo === 'string' && upTo < behind);
  return isInside ? from.slice(0, end + 1) : undefined;
}

function unorderedError(name: string, { table }: Effect): CorrectableError {
  const message = `'${name}' is red here and changes the table '${table}', which has partition: 'none'. Nothing was done. Change the table by blue operations only, or give it a partition.`;
  return createError(name, message);
}

function createError(name: string, message: string): CorrectableError {
  return new CorrectableError('FINAL_FAILED', message, {
    field: `operations.${name}.partitionBy`,
    retryable: false,
  });
}
