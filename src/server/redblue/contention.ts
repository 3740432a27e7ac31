/**
 * What operations of other sites have met while they are still under way. A site that went on to propose one behind the
 * other there would keep them out: a whole chain stands in the log before they are there again.
 */
import type { Conflict } from './certifier.ts';
import { SEPARATOR } from './read-set.ts';
import type { ReadSet } from './read-set.ts';
import type { OperationId } from './records.ts';

/** So many are remembered: who is not among them has a harder time. */
const MET_MAX = 256;

/** A row, or a whole table, of which somebody elsewhere waits for a turn. */
export class Contention {
  /** By operation: how the names of what it met begin. */
  readonly #met = new Map<OperationId, string>();

  /** An operation of another site was rejected. */
  meet(id: OperationId, conflict: Conflict | undefined): void {
    const met = metBy(conflict);
    if (met === undefined) return;
    this.#met.set(id, met);
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
    for (const met of this.#met.values()) {
      for (const name of names) if (isWithin(name, met)) return true;
      for (const { table } of ranges) if (isWithin(table, met) || isWithin(met, table)) return true;
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
