/**
 * What operations of other sites have met while they are still under way. A site that went on to propose one behind the
 * other there would keep them out: a whole chain stands in the log before they are there again. So would one that is nearer
 * to the leader, whose takes come one after the other: a new one waits for the end of one of them first.
 */
import { namesMet } from '../../records/verdict.ts';
import type { Conflict } from '../../records/verdict.ts';
import { SEPARATOR } from '../../generator/read-set.ts';
import type { ReadSet } from '../../generator/read-set.ts';
import type { OperationId, RedOperation } from '../../records/records.ts';
import { RIGHTS_SHADOW } from '../core/rights-port.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import type { Fifo } from '../../collections/fifo.ts';
import type { RedRequest } from './red-requests.ts';

/** So many are remembered: who is not among them has a harder time. */
const MET_MAX = 256;
interface Met {
  /** How the names of what it met begin. */
  readonly prefixes: readonly string[];
  /** By then it has its turn, unless a message of it was lost: or it was given up, or its site is gone. */
  readonly untilMs: number;
  /** Operations of this site that wait for its end. */
  heirs: Fifo<RedRequest> | undefined;
}

/** A row, or a whole table, of which somebody elsewhere waits for a turn. */
export class Contention {
  /** By operation, the one that was rejected last at the end. */
  readonly #met = new Map<OperationId, Met>();
  /** They wait no longer. */
  readonly #heirs: RedRequest[] = [];
  readonly #core: Pick<ReplicaCore, 'nowMs' | 'options'>;

  constructor(core: Pick<ReplicaCore, 'nowMs' | 'options'>) {
    this.#core = core;
  }

  /** An operation of another site was rejected. What sites do by themselves they do not try again: it has no turn. */
  meet({ id, shadow }: Pick<RedOperation, 'id' | 'shadow'>, conflict: Conflict | undefined): void {
    const prefixes = shadow === RIGHTS_SHADOW ? [] : metBy(conflict);
    if (prefixes.length === 0) return;
    const { nowMs, options } = this.#core;
    const heirs = this.#met.get(id)?.heirs;
    this.#met.delete(id);
    this.#met.set(id, { prefixes, untilMs: nowMs + options.resendAfterMs, heirs });
    if (this.#met.size <= MET_MAX) return;
    const [oldest] = this.#met.keys();
    if (oldest !== undefined) this.end(oldest);
  }

  /** It has ended. */
  end(id: OperationId): void {
    const heirs = this.#met.get(id)?.heirs;
    this.#met.delete(id);
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
    const wholes = new Set<string>();
    for (const name of names) wholes.add(tableOf(name)).add(rowOf(name));
    const scanned = new Set(ranges.map(({ table }) => table));
    for (const [id, met] of this.#met) {
      if (id === by) continue;
      if (met.prefixes.some((prefix) => wholes.has(prefix) || scanned.has(tableOf(prefix)))) return met;
    }
    return undefined;
  }
}

function metBy(conflict: Conflict | undefined): readonly string[] {
  if (conflict?.reason === 'range') return [conflict.range.table];
  return [...new Set(namesMet(conflict).map(rowOf))];
}

/** How all names begin that are of the row, or of the table where it is none of a row. */
function rowOf(name: string): string {
  const [table = '', key] = name.split(SEPARATOR);
  return key === undefined ? table : `${table}${SEPARATOR}${key}`;
}

function tableOf(name: string): string {
  return name.split(SEPARATOR, 1)[0] ?? '';
}
