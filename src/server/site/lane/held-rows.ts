/**
 * Notices rows that globals hold for long: a red log orders nothing, a site is away, or there is
 * more load than the sites can take.
 */
import { getPartition, type ExecutionName } from '../../service/records/records.ts';
import type { GlobalOperation } from '../../service/records/records.ts';
import type { HeldRowsReport } from '../core/site-core.ts';
import type { HoldTable } from './order/hold-table.ts';

/** More than a change of the leader, or a restart of a site, takes. */
export const HELD_LIMIT_MS = 10_000;

/** Returns what keeps globals from ending, as far as the site knows it. */
type Explain = (
  logs: readonly number[],
  operations: readonly GlobalOperation[],
) => Pick<HeldRowsReport, 'obstacle' | 'awaitedSites'>;

export class HeldRows {
  /** By the ordinal of the partition. */
  readonly #tables: readonly HoldTable[];
  readonly #explain: Explain;
  readonly #report: (report: HeldRowsReport) => void;
  /** By partition: since when a hold was seen. */
  readonly #sinceMs: readonly Map<ExecutionName, number>[];
  /** The partitions and homes whose rows are still held since the report. */
  #reported: ReadonlySet<string> = new Set();

  constructor(
    tables: readonly HoldTable[],
    explain: Explain,
    report: (report: HeldRowsReport) => void,
  ) {
    this.#tables = tables;
    this.#explain = explain;
    this.#report = report;
    this.#sinceMs = tables.map(() => new Map());
  }

  /** Whether rows are held now. */
  get isAny(): boolean {
    for (const { standing } of this.#tables) if (standing.size > 0) return true;
    return false;
  }

  tick(nowMs: number): void {
    const reported = new Set<string>();
    for (const [partition, table] of this.#tables.entries())
      for (const [home, executions] of this.#findLong(partition, nowMs)) {
        const name = `${partition} ${home}`;
        reported.add(name);
        if (this.#reported.has(name)) continue;
        const operations = executions.flatMap(
          (execution) => table.standing.get(execution)?.operation ?? [],
        );
        const rows = operations.flatMap((item) => table.listRows(item));
        const reasons = this.#explain([home, partition], operations);
        this.#report({ partition, home, rows, ...reasons });
      }
    this.#reported = reported;
  }

  /** Returns the executions that hold rows of a partition for long, by home. */
  #findLong(partition: number, nowMs: number): ReadonlyMap<number, readonly ExecutionName[]> {
    const long = new Map<number, ExecutionName[]>();
    const sinceMs = this.#sinceMs[partition];
    const standing = this.#tables[partition]?.standing;
    if (sinceMs === undefined || standing === undefined) return long;
    for (const execution of sinceMs.keys()) if (!standing.has(execution)) sinceMs.delete(execution);
    for (const [execution, { operation }] of standing) {
      const seenMs = sinceMs.get(execution);
      if (seenMs === undefined) sinceMs.set(execution, nowMs);
      if (seenMs === undefined || nowMs - seenMs < HELD_LIMIT_MS) continue;
      const home = getPartition(operation);
      const executions = long.get(home);
      if (executions === undefined) long.set(home, [execution]);
      else executions.push(execution);
    }
    return long;
  }
}
