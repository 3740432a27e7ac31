/**
 * Operations of other sites that were rejected and are still in flight, and what they met. If this
 * site went on to propose one operation behind the other on the same rows, they would be rejected
 * again: a whole chain is in the log before they come back. The same would happen at a site nearer
 * to the leader that takes from a row again and again. So a new operation waits for the end of one
 * of them first.
 */
import {
  getConflictingNames,
  type Conflict,
} from '../../../service/records/certification-result.ts';
import { SEPARATOR, type ReadSet } from '../../../service/generator/read-set.ts';
import type { OperationId } from '../../../service/records/records.ts';
import { RIGHTS_TRANSFER_SHADOW } from '../../core/rights-port.ts';
import type { Fifo } from '../../../service/collections/fifo.ts';
import type { RedRequest } from './red-requests.ts';
import { DEFAULT_MACHINE_SIZES, type MachineSizes } from '../../../log/machine-sizes.ts';

/** An operation of another site that certification has rejected. */
interface RejectedOperation {
  readonly id: OperationId;
  readonly shadow?: string;
}

/** The time of a site, and its timeout. */
export interface ContentionCore {
  readonly nowMs: number;
  readonly options: {
    readonly resendAfterMs: number;
    readonly sizes?: MachineSizes | undefined;
  };
}

interface ContendedOperation {
  readonly id: OperationId;
  /** Requests that read what the operation met find it by one of these. */
  readonly marks: ReadonlySet<string>;
  /** Greater than the place of every operation that was rejected before it. */
  readonly place: number;
  /**
   * Requests wait for the operation until then, unless it ends before. A message may be lost, or
   * its site may be gone.
   */
  readonly untilMs: number;
  /** Requests of this site that wait for its end. */
  endWaiters: Fifo<RedRequest> | undefined;
}

/** The rows and whole tables for which operations of other sites wait for a turn. */
export class Contention {
  /** By operation. The one that was rejected last is at the end. */
  readonly #contended = new Map<OperationId, ContendedOperation>();
  /**
   * By mark, in the same order. So the cost of a search depends on the reads of the request, not on
   * the number of operations.
   */
  readonly #byMark = new Map<string, Set<ContendedOperation>>();
  #places = 0;
  readonly #waiters: RedRequest[] = [];
  readonly #core: ContentionCore;

  constructor(core: ContentionCore) {
    this.#core = core;
  }

  /**
   * An operation of another site was rejected. Requests do not wait for what a site proposes by
   * itself, because that is not executed again.
   */
  onRejected({ id, shadow }: RejectedOperation, conflict: Conflict | undefined): void {
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
    const { maxContended, onExceeded } = options.sizes ?? DEFAULT_MACHINE_SIZES;
    if (this.#contended.size <= maxContended) return;
    onExceeded?.('maxContended');
    const [oldest] = this.#contended.keys();
    if (oldest !== undefined) this.onEnded(oldest);
  }

  onEnded(id: OperationId): void {
    const waiters = this.#remove(id)?.endWaiters;
    for (const waiter of waiters?.slice() ?? []) this.#waiters.push(waiter);
  }

  /** Whether something may have to go on, at once or after a time. */
  get isWaiting(): boolean {
    return this.#contended.size > 0 || this.#waiters.length > 0;
  }

  /**
   * Takes the requests of this site that may go on: the operation that they wait for has ended, or
   * was not rejected again for long.
   */
  takeWaiters(): readonly RedRequest[] {
    for (const [id, { untilMs }] of this.#contended) {
      if (untilMs > this.#core.nowMs) break;
      this.onEnded(id);
    }
    return this.#waiters.splice(0);
  }

  /**
   * Returns the first operation of another site that waits for something that `by` reads. The
   * request `by` may wait for its end.
   */
  findBlocker({ names, ranges }: ReadSet, by: OperationId): ContendedOperation | undefined {
    if (this.#contended.size === 0) return undefined;
    const marks = new Set(ranges.map(({ table }) => getScanMark(table)));
    for (const name of names) marks.add(getTable(name)).add(getRowPrefix(name));
    let first: ContendedOperation | undefined;
    for (const mark of marks) {
      for (const operation of this.#byMark.get(mark) ?? []) {
        // An operation never waits for itself.
        if (operation.id === by) continue;
        if (operation.place < (first?.place ?? Infinity)) first = operation;
        break;
      }
    }
    return first;
  }

  #add(operation: ContendedOperation): void {
    this.#contended.set(operation.id, operation);
    for (const mark of operation.marks) {
      const marked = this.#byMark.get(mark);
      if (marked === undefined) this.#byMark.set(mark, new Set([operation]));
      else marked.add(operation);
    }
  }

  #remove(id: OperationId): ContendedOperation | undefined {
    const operation = this.#contended.get(id);
    if (operation === undefined) return undefined;
    this.#contended.delete(id);
    for (const mark of operation.marks) {
      const marked = this.#byMark.get(mark);
      marked?.delete(operation);
      if (marked?.size === 0) this.#byMark.delete(mark);
    }
    return operation;
  }
}

/**
 * Returns marks of the rows that the operation met, or of the whole table, and marks for scans of
 * their tables.
 */
function getMarks(conflict: Conflict | undefined): ReadonlySet<string> {
  const conflicting =
    conflict?.reason === 'range'
      ? [conflict.range.table]
      : getConflictingNames(conflict).map(getRowPrefix);
  return new Set([...conflicting, ...conflicting.map((mark) => getScanMark(getTable(mark)))]);
}

/** Returns the prefix of all names of the row. For a name that is none of a row it is the table. */
function getRowPrefix(name: string): string {
  const [table = '', key] = name.split(SEPARATOR);
  return key === undefined ? table : `${table}${SEPARATOR}${key}`;
}

function getTable(name: string): string {
  return name.split(SEPARATOR, 1)[0] ?? '';
}

/** Returns the mark of the scans of a table. No row begins like that. */
function getScanMark(table: string): string {
  return table + SEPARATOR + SEPARATOR;
}
