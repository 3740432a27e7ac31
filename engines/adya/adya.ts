/**
 * Adya, an independent checker of transactions in Rust: built once, asked by histories of
 * transactions.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { builtRustProgram } from '../built-rust-program.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('.', import.meta.url));

/** One step of a transaction on lists, as Elle writes it. An unknown list is `null`. */
export type ElleStep =
  | readonly ['append', key: string, element: string | number]
  | readonly ['r', key: string, list: readonly (string | number)[] | null];

/** A line of a history, as Elle writes it. The order of the lines is that of real time. */
export interface ElleEvent {
  /** `fail`: certainly without effect; `info`: of unknown outcome. */
  readonly type: 'invoke' | 'ok' | 'fail' | 'info';
  /** Has one transaction at a time. */
  readonly process: number;
  readonly value: readonly ElleStep[];
}

export type AdyaModel = 'strict-serializable' | 'serializable';

export interface AdyaReport {
  /** `unknown` if nothing follows from the history. */
  readonly verdict: 'valid' | 'invalid' | 'unknown';
  /** Explanations by the kind of the anomaly. */
  readonly anomalies: Readonly<Record<string, readonly string[]>>;
}

/** A history of 10,000 transactions with many faults is explained at length. */
const MAX_REPORT_BYTES = 2 ** 30;

/**
 * Returns the checker's program.
 *
 * @throws EngineUnavailable if Cargo is missing, or cannot fetch the crates
 */
export function buildAdya(): Promise<string> {
  return builtRustProgram({ name: 'adya', folder });
}

/** Judges whether a store that keeps to `model` can have given this history. */
export async function askAdya(
  program: string,
  events: readonly ElleEvent[],
  model: AdyaModel,
): Promise<AdyaReport> {
  const running = run(program, [model], { maxBuffer: MAX_REPORT_BYTES });
  running.child.stdin?.end(
    events.map((event, index) => `${JSON.stringify({ index, ...event })}\n`).join(''),
  );
  return JSON.parse((await running).stdout) as AdyaReport;
}
