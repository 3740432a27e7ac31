/**
 * The holds of one red log, and how executions of globals have ended in it. It is a function of the
 * log's prefix. Both are in the checkpoint, since another site may stop before it ends its hold,
 * and since a copy of a record may come late.
 */
import {
  RowChanges,
  type SavedRow,
  type Section,
  type SectionRows,
} from '../../../service/records/checkpoint.ts';
import type { HeldConflict } from '../../../service/records/certification-result.ts';
import type { Effect } from '../../../service/records/effect.ts';
import { getExecutionName } from '../global-records.ts';
import type { ReadRange } from '../../../service/records/read-range.ts';
import type { ExecutionName, GlobalOperation } from '../../../service/records/records.ts';
import { findWrittenNames, parseName } from '../../../service/generator/read-set.ts';
import { findReadName, findWrittenName, type Footprint } from './footprint.ts';
import { HoldIndex } from './hold-index.ts';

/** Finds the partition whose log orders a row, if there is one. */
export interface RowPartitions {
  ofRow(table: string, key: string): number | undefined;
}

/**
 * How an execution ended in this log. In its home it has committed, or never will. In another log
 * its hold was refused or has ended.
 */
export type ExecutionEnd = 'committed' | 'never' | 'refused' | 'released';

/** A hold that stands. */
export interface Hold {
  readonly operation: GlobalOperation;
  readonly stamp: number;
}

/** What an operation reads and writes, in any partitions. */
export interface TouchedRows {
  readonly reads: Iterable<string>;
  readonly ranges?: readonly ReadRange[];
  readonly effects: readonly Effect[];
  /** Names of the rows that are new. Default: none */
  readonly created?: readonly string[];
}

/** The end of an execution, and the stamp at which this log noted it. */
export interface End {
  readonly how: ExecutionEnd;
  readonly stamp: number;
}

type SavedHold =
  | readonly [stamp: number, operation: GlobalOperation]
  | readonly [stamp: number, how: ExecutionEnd];

export class HoldTable implements Section {
  readonly #partitions: RowPartitions;
  readonly #partition: number;
  readonly #standing = new Map<ExecutionName, Hold>();
  readonly #index = new HoldIndex();
  /** In the order of their stamps. */
  readonly #ends = new Map<ExecutionName, End>();
  readonly #changes = new RowChanges<ExecutionName>({
    listKeys: () => [...this.#standing.keys(), ...this.#ends.keys()],
    save: (execution) => this.#getSaved(execution),
  });
  readonly #touched = new Set<ExecutionName>();
  /** The footprint that was asked for last. */
  #measured: { readonly touched: TouchedRows; readonly footprint: Footprint } | undefined;

  /** @param partition the ordinal of the partition of the log */
  constructor(partitions: RowPartitions, partition: number) {
    this.#partitions = partitions;
    this.#partition = partition;
  }

  get standing(): ReadonlyMap<ExecutionName, Hold> {
    return this.#standing;
  }

  /**
   * Executions of which something has changed here. The coordinator of the site looks at these, and
   * takes them out.
   */
  get touched(): Set<ExecutionName> {
    return this.#touched;
  }

  /** Returns how the execution ended in this log, if that is remembered. */
  getEnd(execution: ExecutionName): End | undefined {
    return this.#ends.get(execution);
  }

  /** Whether a hold of the execution is decided in this log. */
  isKnown(execution: ExecutionName): boolean {
    return this.#standing.has(execution) || this.#ends.has(execution);
  }

  add(operation: GlobalOperation, stamp: number): void {
    const execution = getExecutionName(operation);
    this.#changes.note(execution);
    this.#stand(execution, operation, stamp);
  }

  /** The execution ends in this log. A hold of it stands no longer. */
  end(execution: ExecutionName, how: ExecutionEnd, stamp: number): void {
    this.#changes.note(execution);
    this.#index.delete(execution);
    this.#standing.delete(execution);
    this.#ends.set(execution, { how, stamp });
    this.#touched.add(execution);
  }

  /**
   * Forgets ends up to a stamp. The snapshots of those executions are older, so certification
   * rejects every later record of them.
   */
  forget(upTo: number): void {
    for (const [execution, { stamp }] of this.#ends) {
      if (stamp > upTo) break;
      this.#changes.note(execution);
      this.#ends.delete(execution);
      this.#touched.add(execution);
    }
  }

  /** Returns the rows of this partition that an operation reads or writes. */
  listRows({ effects, reads }: GlobalOperation): readonly string[] {
    const rows = new Set<string>();
    for (const { table, key } of [...effects, ...reads.map(parseName)])
      if (key !== undefined && this.#isHere(table, key)) rows.add(`${table}/${key}`);
    return [...rows];
  }

  /** Returns what an operation reads, and what it writes in this partition. */
  getFootprint(touched: TouchedRows): Footprint {
    // A hold that was certified is added next.
    if (this.#measured?.touched !== touched)
      this.#measured = { touched, footprint: this.#measure(touched) };
    return this.#measured.footprint;
  }

  #measure({ reads, ranges = [], effects, created = [] }: TouchedRows): Footprint {
    const here = effects.filter(({ table, key }) => this.#isHere(table, key));
    const rows = new Set(created);
    const writes = new Set(findWrittenNames(here, rows));
    return {
      reads: new Set(reads),
      ranges,
      writes,
      effects: here,
      created: rows,
    };
  }

  /**
   * Returns the conflict with a hold that stands: one of both reads or writes what the other one
   * writes.
   *
   * @param own the execution that it is, if it has holds
   */
  findOverlap(touched: TouchedRows, own?: ExecutionName): HeldConflict | undefined {
    if (this.#standing.size === 0) return undefined;
    const footprint = this.getFootprint(touched);
    // The oldest first, so that all sites find the same conflict.
    for (const held of this.#index.findOverlaps(footprint)) {
      const { execution } = held;
      if (execution === own) continue;
      const name = this.findOverlappingName(footprint, held.footprint);
      if (name !== undefined) return { reason: 'held', name, execution };
    }
    return undefined;
  }

  /**
   * Returns a name for which `later` overlaps what is held. Both directions count: if it only
   * writes what the global reads, it comes before the global in the one order, and what it knows
   * may come after it.
   */
  findOverlappingName(later: Footprint, held: Footprint): string | undefined {
    return findReadName(later, held) ?? findWrittenName(later, held) ?? findReadName(held, later);
  }

  changeAll(): void {
    this.#changes.changeAll();
  }

  closeChanges(): void {
    this.#changes.closeChanges();
  }

  takeClosed(max: number): SavedRow[] {
    return this.#changes.takeClosed(max);
  }

  restore(rows: SectionRows): void {
    const saved = [...rows] as [ExecutionName, SavedHold][];
    for (const [execution, [stamp, item]] of saved.toSorted(([, [a]], [, [b]]) => a - b)) {
      if (typeof item === 'string') this.#ends.set(execution, { how: item, stamp });
      else this.#stand(execution, item, stamp);
    }
  }

  #stand(execution: ExecutionName, operation: GlobalOperation, stamp: number): void {
    const footprint = this.getFootprint(operation);
    this.#standing.set(execution, { operation, stamp });
    this.#index.add(execution, footprint);
    this.#touched.add(execution);
  }

  #getSaved(execution: ExecutionName): SavedHold | undefined {
    const hold = this.#standing.get(execution);
    if (hold !== undefined) return [hold.stamp, hold.operation];
    const end = this.#ends.get(execution);
    return end && [end.stamp, end.how];
  }

  #isHere(table: string, key: string): boolean {
    return this.#partitions.ofRow(table, key) === this.#partition;
  }
}
