/**
 * Checks all that a commit of a store of rows has: checksums, orders, counts, and that rows, orders
 * and parts name each other. No engine notices an entry that it has lost.
 */
import type { Tables } from '../../../service/tables.ts';
import { CheckReport, type CheckProgress, type CheckResult } from './check-report.ts';
import { TableCheck } from './check-table.ts';
import { CheckedOrder } from './checked-order.ts';
import { getNamesSection, getSavedRows, readSmallParts, ROWS_SECTION } from './saved-state.ts';
import type { SavedCommit } from './saved-walk.ts';

export interface CheckRowsOptions {
  /**
   * The tables of the service. Without them the values of indexes are not compared with the rows,
   * since only the service knows how a field is saved. That each entry has a row is.
   */
  readonly tables?: Tables | undefined;
  /** More problems are counted, and not described. Default: 100 */
  readonly maxProblems?: number;
}

/** Reads all of a commit, step by step. A step takes some milliseconds, or a second if large. */
export function* checkRows(
  commit: SavedCommit,
  { tables, maxProblems = 100 }: CheckRowsOptions = {},
): Generator<CheckProgress, CheckResult, undefined> {
  const report = new CheckReport(maxProblems);
  report.try('the state beside the sections', () => readSmallParts(commit.reader));
  const total = countEntries(commit.cut);
  let checked = 0;
  for (const step of checkAll(commit, tables, report)) {
    checked += step;
    yield { checked, total };
  }
  const { problems, problemCount } = report;
  return { problems, problemCount };
}

function* checkAll(
  commit: SavedCommit,
  tables: Tables | undefined,
  report: CheckReport,
): Generator<number, void, undefined> {
  const saved = getSavedRows(commit.reader, ROWS_SECTION);
  const declared = new Map(Object.entries(tables ?? {}));
  for (const [name, orders] of Object.entries(commit.cut.tables))
    yield* new TableCheck({ name, orders, saved, declared: declared.get(name) }, report).run();
  for (const section of Object.keys(commit.cut.listed)) yield* checkListed(commit, section, report);
}

/** Checks a section whose rows are all read at a start. */
function* checkListed(
  { cut, reader }: SavedCommit,
  section: string,
  report: CheckReport,
): Generator<number, void, undefined> {
  const rows = getSavedRows(reader, section);
  const options = {
    description: `'names' of '${section}'`,
    saved: getSavedRows(reader, getNamesSection(section)),
    savedSize: cut.listed[section] ?? 0,
  };
  const names = new CheckedOrder(options, report);
  yield* names.check();
  for (const { key: name } of names.entries()) {
    const row = `the row ${JSON.stringify(name)} of '${section}'`;
    const isMissing = report.try(row, () => rows.get(name) === undefined);
    if (isMissing === true) report.add(`${row} is missing`);
    yield 1;
  }
}

/** Counts the steps: each order is read twice. */
function countEntries({ tables, listed }: SavedCommit['cut']): number {
  const sizes = [...Object.values(tables), listed].flatMap((orders) => Object.values(orders));
  let total = 0;
  for (const size of sizes) total += 2 * size;
  return total;
}
