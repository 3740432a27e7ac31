/**
 * What operations of other sites have met while they are still under way. A site that went on to propose one behind the
 * other there would keep them out: a whole chain stands in the log before they are there again. So would one that is nearer
 * to the leader, whose takes come one after the other: a new one waits for the end of one of them first.
 */
import { namesMet, type Conflict } from '../../records/verdict.ts';
import { SEPARATOR, type ReadSet } from '../../generator/read-set.ts';
import type { OperationId, RedOperation } from '../../records/records.ts';
import { RIGHTS_SHADOW } from '../core/rights-port.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import type { Fifo } from '../../collections/fifo.ts';
import type { RedRequest } from './red-requests.ts';

/** So many are remembered: who is not among them has a harder time. */
const MET_MAX = 256;

interface Met {
  readonly id: OperationId;
  /** Who reads what it met finds it under one of these. */
  readonly marks: ReadonlySet<string>;
  /** Above that of whoever was rejected before. */
  readonly place: number;
  /** By then it has its turn, unless a message of it was lost: or it was given up, or its site is gone. */
  readonly untilMs: number;
  /** Operations of this site that wait for its end. */
  heirs: Fifo<RedRequest> | undefined;
}

/** A row, or a whole table, of which somebody elsewhere waits for a turn. */
export class Contention {
  /** By operation, the one that was rejected last at the end. */
  readonly #met = new Map<OperationId, Met>();
  /** By mark, in the same order: who asks pays for what he reads, not for what others have met. */
  readonly #marked = new Map<string, Set<Met>>();
  #places = 0;
  /** They wait no longer. */
  readonly #heirs: RedRequest[] = [];
  readonly #core: Pick<ReplicaCore, 'nowMs' | 'options'>;

  constructor(core: Pick<ReplicaCore, 'nowMs' | 'options'>) {
    this.#core = core;
  }

  /** An operation of another site was rejected. What sites do by themselves they do not try again: it has no turn. */
  meet({ id, shadow }: Pick<RedOperation, 'id' | 'shadow'>, conflict: Conflict | undefined): void {
    if (shadow === RIGHTS_SHADOW) return;
    const marks = marksOf(conflict);
    if (marks.size === 0) return;
    const { nowMs, options } = this.#core;
    const heirs = this.#takeOff(id)?.heirs;
    this.#places += 1;
    this.#add({ id, marks, place: this.#places, untilMs: nowMs + options.resendAfterMs, heirs });
    if (this.#met.size <= MET_MAX) return;
    const [oldest] = this.#met.keys();
    if (oldest !== undefined) this.end(oldest);
  }

  /** It has ended. */
  end(id: OperationId): void {
    const heirs = this.#takeOff(id)?.heirs;
    for (const heir of heirs?.slice() ?? []) this.#heirs.push(heir);
  }

  /** Those of this site that have waited for the end of what has ended, or was not rejected again for long. */
  takeHeirs(): readonly RedRequest[] {
    for (const [id, { untilMs }] of this.#met) {
      if (untilMs > this.#core.nowMs) break;
      this.end(id);
    }
    return this.#heirs.splice(0);
  }

  /** What somebody else waits for of what this one reads, by the first who does: it may wait for his end. */
  about({ names, ranges }: ReadSet, by: OperationId): Met | undefined {
    if (this.#met.size === 0) return undefined;
    const marks = new Set(ranges.map(({ table }) => scanOf(table)));
    for (const name of names) marks.add(tableOf(name)).add(rowOf(name));
    let first: Met | undefined;
    for (const mark of marks) {
      const met = firstBut(by, this.#marked.get(mark));
      if (met !== undefined && met.place < (first?.place ?? Infinity)) first = met;
    }
    return first;
  }

  #add(met: Met): void {
    this.#met.set(met.id, met);
    for (const mark of met.marks) {
      const marked = this.#marked.get(mark);
      if (marked === undefined) this.#marked.set(mark, new Set([met]));
      else marked.add(met);
    }
  }

  #takeOff(id: OperationId): Met | undefined {
    const met = this.#met.get(id);
    if (met === undefined) return undefined;
    this.#met.delete(id);
    for (const mark of met.marks) {
      const marked = this.#marked.get(mark);
      marked?.delete(met);
      if (marked?.size === 0) this.#marked.delete(mark);
    }
    return met;
  }
}

/** Nobody waits for himself. */
function firstBut(by: OperationId, marked: Iterable<Met> = []): Met | undefined {
  for (const met of marked) if (met.id !== by) return met;
  return undefined;
}

/** The rows that it met, or the whole table, for who reads names; and their tables, for who scans. */
function marksOf(conflict: Conflict | undefined): ReadonlySet<string> {
  const met = conflict?.reason === 'range' ? [conflict.range.table] : namesMet(conflict).map(rowOf);
  return new Set([...met, ...met.map((mark) => scanOf(tableOf(mark)))]);
}

/** How all names begin that are of the row, or of the table where it is none of a row. */
function rowOf(name: string): string {
  const [table = '', key] = name.split(SEPARATOR);
  return key === undefined ? table : `${table}${SEPARATOR}${key}`;
}

function tableOf(name: string): string {
  return name.split(SEPARATOR, 1)[0] ?? '';
}

/** What stands for the scans of a table: no row begins like that. */
function scanOf(table: string): string {
  return table + SEPARATOR + SEPARATOR;
}
