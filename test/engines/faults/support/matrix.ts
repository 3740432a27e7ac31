/** Runs the cells of one store: a test for each fault that the store can have. */
import { expect, test } from 'vitest';
import { FAULTS, type Column, type Fault, type NoCell } from './faults.ts';

/** The faults that a column has a cell for. */
type FaultOf<C extends Column> = {
  [F in Fault]: C['cells'][F] extends NoCell ? never : F;
}[Fault];

/** A test for each cell. A file may have some of them, if another file has the others. */
export type CellTests<C extends Column> = Readonly<
  Partial<Record<FaultOf<C>, () => Promise<void>>>
>;

/**
 * Declares a test for each cell, in the order of the rows.
 *
 * @example
 * describeFaults(postgres, {
 *   killed: async () => { … },
 * });
 */
export function describeFaults<const C extends Column>(column: C, tests: CellTests<C>): void {
  const own = tests as Partial<Record<Fault, () => Promise<void>>>;
  const faults = (Object.keys(FAULTS) as Fault[]).filter((fault) => own[fault] !== undefined);
  for (const fault of faults)
    test(`${column.store}: ${FAULTS[fault]} (fault ${fault})`, () => own[fault]?.());
}

/** How often an operation is tried again while it fails. */
const RETRY_INTERVAL_MS = 50;

/**
 * Repeats an operation until it succeeds, and expects that within two timeouts of one operation.
 * Call it when the cause of the fault is gone.
 *
 * @param timeoutMs the timeout that `run` has
 */
export async function expectRecovery<T>(timeoutMs: number, run: () => PromiseLike<T>): Promise<T> {
  const goneAtMs = performance.now();
  const errors: unknown[] = [];
  for (;;) {
    try {
      return await run();
    } catch (error) {
      errors.push(error);
      const elapsedMs = performance.now() - goneAtMs;
      expect(elapsedMs, `still failing: ${String(errors.at(-1))}`).toBeLessThan(2 * timeoutMs);
      await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS));
    }
  }
}

/** How an operation ended. */
export interface Outcome {
  readonly code: string;
  readonly retryable?: boolean;
  readonly message?: string;
}

/** The error of a `get` or a `getMany` that meets a value which the binding cannot decode. */
export function unreadable(key: string): object {
  const sentence = `: the value of the key "${key}" cannot be read: `;
  const message = expect.stringContaining(sentence) as unknown;
  return { code: 'INVALID_VALUE', retryable: false, key, message };
}

/** Returns how an operation ended: `done`, or its error. */
export function getOutcome(operation: PromiseLike<unknown>): Promise<Outcome> {
  return Promise.resolve(
    operation.then(
      () => ({ code: 'done' }),
      (error: Outcome) => error,
    ),
  );
}
