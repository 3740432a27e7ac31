/**
 * What operations of other sites have met while they are still in flight. A
 * site that went on to propose one behind the other there would keep them out:
 * a whole chain stands in the log before they are there again. So would one
 * that is nearer to the leader, whose takes come one after the other: a new one
 * waits for the end of one of them first.
 */
import {
  getConflictingNames,
  type Conflict,
} from '../../../records/certification-result.ts';
import { SEPARATOR, type ReadSet } from '../../../generator/read-set.ts';
import type { OperationId, RedOperation } from '../../../records/records.ts';
import { RIGHTS_TRANSFER_SHADOW } from '../../core/rights-port.ts';
import type { ReplicaCore } from '../../core/replica-port.ts';
import type { Fifo } from '../../../collections/fifo.ts';
import type { RedRequest } from './red-requests.ts';

/** The number that is remembered. Others have no turn. */
const MAX_CONTENDED = 256;

interface ContendedOperation {
  readonly id: OperationId;
  /** Operations that read what it met find it under one of these. */
  readonly marks: ReadonlySet<string>;
  /** Greater than the place of every operation that was rejected before. */
  readonly place: number;
  /**
   * It has its turn by then, unless a message was lost, the operation was given
   * up or its site is gone.
   */
  readonly untilMs: number;
  /** Operations of this site that wait for its end. */
  endWaiters: Fifo<RedRequest> | undefined;
}

/**
 * The rows and whole tables for which operations of other sites wait for a
 * turn.
 */
export class Contention {
  /** By operation, the one that was rejected last at the end. */
  readonly #contended = new Map<OperationId, ContendedOperation>();
  /**
   * By mark, in the same order: a search costs as much as the operation has
   * read, not as others have met.
   */
  readonly #byMark = new Map<string, Set<ContendedOperation>>();
  #places = 0;
  readonly #waiters: RedRequest[] = [];
  readonly #core: Pick<ReplicaCore, 'nowMs' | 'options'>;

  constructor(core: Pick<ReplicaCore, 'nowMs' | 'options'>) {
    this.#core = core;
  }

  /**
   * An operation of another site was rejected. What sites do by themselves they
   * do not try again: it has no turn.
   */
  onRejected(
    { id, shadow }: Pick<RedOperation, 'id' | 'shadow'>,
    conflict: Conflict | undefined,
  ): void {
    if (shadow === RIGHTS_TRANSFER_SHADOW) return;
    const marks = getMarks(conflict);
    if (marks.size === 0) return;
    const { nowMs, options } = this.#core;
    const endWaiters = this.#remove(id)?.endWaiters;
    this.#places += 1;
    this.#add({
      id,
      marks,
      place: this.#places,
      untilMs: nowMs + options.resendAfterMs,
      endWaiters,
    });
    if (this.#contended.size <= MAX_CONTENDED) return;
    const [oldest] = this.#contended.keys();
    if (oldest !== undefined) this.onEnded(oldest);
  }

  onEnded(id: OperationId): void {
    const heirs = this.#remove(id)?.endWaiters;
    for (const heir of heirs?.slice() ?? []) this.#waiters.push(heir);
  }

  /**
   * Those of this site that have waited for the end of what has ended, or was
   * not rejected again for long.
   */
  takeWaiters(): readonly RedRequest[] {
    for (const [id, { untilMs }] of this.#contended) {
      if (untilMs > this.#core.nowMs) break;
      this.onEnded(id);
    }
    return this.#waiters.splice(0);
  }

  /**
   * Returns the first operation that waits for something that `by` reads: `by`
   * may wait for its end.
   */
  findBlocker(
    { names, ranges }: ReadSet,
    by: OperationId,
  ): ContendedOperation | undefined {
    if (this.#contended.size === 0) return undefined;
    const marks = new Set(ranges.map(({ table }) => getScanMark(table)));
    for (const name of names) marks.add(getTable(name)).add(getRowPrefix(name));
    let first: ContendedOperation | undefined;
    for (const mark of marks) {
      for (const encountered of this.#byMark.get(mark) ?? []) {
        // An operation never waits for itself.
        if (encountered.id === by) continue;
        if (encountered.place < (first?.place ?? Infinity)) first = encountered;
        break;
      }
    }
    return first;
  }

  #add(encountered: ContendedOperation): void {
    this.#contended.set(encountered.id, encountered);
    for (const mark of encountered.marks) {
      const marked = this.#byMark.get(mark);
      if (marked === undefined) this.#byMark.set(mark, new Set([encountered]));
      else marked.add(encountered);
    }
  }

  #remove(id: OperationId): ContendedOperation | undefined {
    const encountered = this.#contended.get(id);
    if (encountered === undefined) return undefined;
    this.#contended.delete(id);
    for (const mark of encountered.marks) {
      const marked = this.#byMark.get(mark);
      marked?.delete(encountered);
      if (marked?.size === 0) this.#byMark.delete(mark);
    }
    return encountered;
  }
}

/**
 * The rows that it met, or the whole table, for who reads names; and their
 * tables, for who scans.
 */
function getMarks(conflict: Conflict | undefined): ReadonlySet<string> {
  const encountered =
    conflict?.reason === 'range'
      ? [conflict.range.table]
      : getConflictingNames(conflict).map(getRowPrefix);
  return new Set([
    ...encountered,
    ...encountered.map((mark) => getScanMark(getTable(mark))),
  ]);
}

/**
 * How all names begin that are of the row, or of the table where it is none of
 * a row.
 */
function getRowPrefix(name: string): string {
  const [table = '', key] = name.split(SEPARATOR);
  return key === undefined ? table : `${table}${SEPARATOR}${key}`;
}

function getTable(name: string): string {
  return name.split(SEPARATOR, 1)[0] ?? '';
}

/** What stands for the scans of a table: no row begins like that. */
function getScanMark(table: string): string {
  return table + SEPARATOR + SEPARATOR;
}
