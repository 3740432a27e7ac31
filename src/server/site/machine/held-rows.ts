/**
 * Notices rows that globals hold for long: the home log of these globals is
 * away, or a red log has halted.
 */
import { getPartition } from '../../records/records.ts';
import type { HeldRowsReport } from '../../replica/core/replica-port.ts';
import type { HoldTable } from '../../replica/red/order/hold-table.ts';

/** More than a change of the leader, or a restart of a site, takes. */
export const HELD_LIMIT_MS = 10_000;

export class HeldRows {
  /** By the ordinal of the partition. */
  readonly #tables: readonly HoldTable[];
  readonly #report: (report: HeldRowsReport) => void;
  /** By partition and execution: since when a hold was seen. */
  readonly #sinceMs = new Map<string, number>();
  /** The partitions and homes whose rows are still held since the report. */
  #reported: ReadonlySet<string> = new Set();

  constructor(
    tables: readonly HoldTable[],
    report: (report: HeldRowsReport) => void,
  ) {
    this.#tables = tables;
    this.#report = report;
  }

  /** Whether rows are held now. */
  get isAny(): boolean {
    for (const { standing } of this.#tables) if (standing.size > 0) return true;
    return false;
  }

  tick(nowMs: number): void {
    if (!this.isAny && this.#sinceMs.size === 0) return;
    const standing = new Set<string>();
    const long = new Map<string, HeldRowsReport & { rows: string[] }>();
    for (const [partition, table] of this.#tables.entries()) {
      for (const [execution, { operation }] of table.standing) {
        const hold = `${partition} ${execution}`;
        standing.add(hold);
        const sinceMs = this.#sinceMs.get(hold) ?? nowMs;
        this.#sinceMs.set(hold, sinceMs);
        if (nowMs - sinceMs < HELD_LIMIT_MS) continue;

        const home = getPartition(operation);
        const name = `${partition} ${home}`;
        const report = long.get(name) ?? { partition, home, rows: [] };
        report.rows.push(...table.listRows(operation));
        long.set(name, report);
      }
    }
    for (const hold of this.#sinceMs.keys())
      if (!standing.has(hold)) this.#sinceMs.delete(hold);
    for (const [name, report] of long)
      if (!this.#reported.has(name)) this.#report(report);
    this.#reported = new Set(long.keys());
  }
}
