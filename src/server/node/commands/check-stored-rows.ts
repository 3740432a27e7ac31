/** Reads all that the store of rows of a data directory has, and reports what is damaged. */
import { setImmediate as pause } from 'node:timers/promises';
import { performance } from 'node:perf_hooks';
import type { Tables } from '../../service/tables.ts';
import type { CheckProgress, CheckResult } from '../storage/rows/check-report.ts';
import { checkRows } from '../storage/rows/check-rows.ts';
import type { RowReader } from '../storage/rows/row-store.ts';
import { readCut } from '../storage/rows/saved-state.ts';

export interface RowsCheck {
  /** The tables of the service. With them, indexes are compared with the rows too. */
  readonly tables?: Tables | undefined;
  onProgress?(progress: CheckProgress): void;
}

/** After so long, other work of the process goes on, such as signals. */
const SLICE_MS = 20;

/**
 * Checks the last commit, in slices. Returns `null` if the store has none.
 *
 * @throws Error if the cut of the commit is damaged
 */
export async function checkStoredRows(
  reader: RowReader,
  { tables, onProgress }: RowsCheck,
): Promise<CheckResult | null> {
  const cut = readCut(reader);
  if (cut === undefined) return null;
  const steps = checkRows({ cut, reader }, { tables });
  let sliceBeganAtMs = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() - sliceBeganAtMs < SLICE_MS) continue;
    onProgress?.(step.value);
    await pause();
    sliceBeganAtMs = performance.now();
  }
}
