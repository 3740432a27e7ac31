/**
 * What operations of other sites have met while they are still under way. A site that went on to propose one behind the
 * other there would keep them out: a whole chain stands in the log before they are there again.
 */
import type { Conflict } from '../../records/verdict.ts';
import { SEPARATOR } from '../../generator/read-set.ts';
import type { ReadSet } from '../../generator/read-set.ts';
import type { OperationId } from '../../records/records.ts';
import type { ReplicaCore } from '../core/replica-port.ts';

/** So many are remembered: who is not among them has a harder time. */
const MET_MAX = 256;
/** Who was not rejected again for so many times the time after which a message is sent again may have been given up. */
const MET_FOR_RESENDS = 4;

interface Met {
  /** How the names of what it met begin. */
  readonly prefix: string;
  readonly untilMs: number;
}

/** A row, or a whole table, of which somebody elsewhere waits for a turn. */
export class Contention {
  /** By operation, the one that was rejected last at the end. */
  readonly #met = new Map<OperationId, Met>();
  readonly #core: Pick<ReplicaCore, 'nowMs' | 'options'>;

  constructor(core: Pick<ReplicaCore, 'nowMs' | 'options'>) {
    this.#core = core;
  }

  /** An operation of another site was rejected. */
  meet(id: OperationId, conflict: Conflict | undefined): void {
    const prefix = metBy(conflict);
    if (prefix === undefined) return;
    const { nowMs, options } = this.#core;
    this.#met.delete(id);
    this.#met.set(id, { prefix, untilMs: nowMs + MET_FOR_RESENDS * options.resendAfterMs });
    if (this.#met.size <= MET_MAX) return;
    const [oldest] = this.#met.keys();
    if (oldest !== undefined) this.#met.delete(oldest);
  }

  /** It has ended. */
  end(id: OperationId): void {
    this.#met.delete(id);
  }

  /** Whether somebody waits for something of this. */
  isAbout({ names, ranges }: ReadSet): boolean {
    for (const [id, { prefix, untilMs }] of this.#met) {
      if (untilMs <= this.#core.nowMs) this.#met.delete(id);
      else {
        for (const name of names) if (isWithin(name, prefix)) return true;
        for (const { table } of ranges) if (isWithin(table, prefix) || isWithin(prefix, table)) return true;
      }
    }
    return false;
  }
}

function metBy(conflict: Conflict | undefined): string | undefined {
  if (conflict?.reason === 'range') return conflict.range.table;
  if (conflict?.reason !== 'name') return undefined;
  const [table, key] = conflict.name.split(SEPARATOR);
  return key === undefined ? table : `${table}${SEPARATOR}${key}`;
}

/** Whether the name is that of the whole, or of a part of it. */
function isWithin(name: string, whole: string): boolean {
  return name === whole || name.startsWith(whole + SEPARATOR);
}
