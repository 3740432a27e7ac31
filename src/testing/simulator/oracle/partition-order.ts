/**
 * The order of red operations over several red logs. On the rows of one partition it is the order
 * in which a site shows them: locals of the partition, and globals of any home. Those that overlap
 * are in the same order at each site, since one of them is rejected while the other one has holds.
 */
import { toFieldName } from '../../../server/service/generator/read-set.ts';
import type { Origins } from '../../../server/service/records/origin.ts';
import type { RedOperation } from '../../../server/service/records/records.ts';
import { assertProperty, setCount, type AnyOperation } from '../checkers/checker.ts';
import type { Counts } from './model-operation.ts';

interface PlacedGlobal {
  readonly place: number;
  readonly partitions: ReadonlySet<number>;
}

interface FieldWrite {
  readonly id: string;
  readonly time: number;
}

export class PartitionOrder {
  readonly #origins: Origins;
  /** By the origin of their home log, in order. */
  readonly #globals = new Map<number, PlacedGlobal[]>();
  /** The last red write of each field. */
  readonly #writes = new Map<string, FieldWrite>();

  constructor(origins: Origins) {
    this.#origins = origins;
  }

  /**
   * Returns what an operation has before it: all that its generator had seen, and the red
   * operations on rows of its partitions that the first site that shows it has shown before.
   */
  getSeen(operation: RedOperation, seen: Counts, shown: Counts): number[] {
    const partitions = getPartitions(operation);
    const counts = [...seen];
    for (const [partition, log] of this.#origins.logs.entries()) {
      const shownCount = shown[log] ?? 0;
      const count = partitions.has(partition)
        ? shownCount
        : this.#countGlobals(log, shownCount, partitions);
      setCount(counts, log, Math.max(counts[log] ?? 0, count));
    }
    return counts;
  }

  /**
   * Returns the time of an operation. Records that are no operations have times too, so it may be
   * later than `least`.
   */
  getTime({ id }: RedOperation, stamp: number, least: number): number {
    assertProperty(
      stamp >= least,
      () => `${id} has time ${stamp}, and can have ${least} at the earliest`,
    );
    return stamp;
  }

  checkSameTime({ id }: AnyOperation, time: number, stamp: number): void {
    assertProperty(
      time === stamp,
      () => `${id} has time ${stamp} at one site, and ${time} at another one`,
    );
  }

  /** Notes an operation at its place, and checks its time. */
  add(operation: RedOperation, list: number, place: number, time: number): void {
    const { id, effects, others } = operation;
    if (others !== undefined) {
      const globals = this.#globals.get(list) ?? [];
      globals.push({ place, partitions: getPartitions(operation) });
      this.#globals.set(list, globals);
    }
    for (const { table, key, field } of effects) {
      const name = toFieldName(table, key, field);
      const last = this.#writes.get(name);
      assertProperty(
        last === undefined || last.id === id || last.time < time,
        () =>
          `${id} writes ${JSON.stringify(name)} with time ${time}, after ${last?.id} with ${last?.time}`,
      );
      this.#writes.set(name, { id, time });
    }
  }

  /** The place of the last one that a site has shown with rows of these. */
  #countGlobals(log: number, shownCount: number, partitions: ReadonlySet<number>): number {
    const last = (this.#globals.get(log) ?? []).findLast(
      (item) =>
        item.place <= shownCount &&
        [...partitions].some((partition) => item.partitions.has(partition)),
    );
    return last?.place ?? 0;
  }
}

/** Returns the ordinals of the partitions with rows of an operation. */
function getPartitions({ partition = 0, others = [] }: RedOperation): ReadonlySet<number> {
  return new Set([partition, ...others]);
}
