/**
 * The files of `bench/results`: the reports of full runs, with the samples from which their figures
 * are computed.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { GoalResult } from './goals.ts';
import type { Outcome } from './bench.ts';
import type { Provenance } from './provenance.ts';

/** The report of a run, and the content of a results file. */
export interface Report extends Provenance {
  readonly bench: string;
  readonly rounds: number;
  /**
   * The date and the commit at which the bars were computed again from the samples, if they were.
   */
  readonly judged?: Pick<Provenance, 'date' | 'commit'>;
  readonly rows: Outcome['rows'];
  readonly bars: readonly GoalResult[];
  readonly samples?: unknown;
}

const FOLDER = new URL('../results/', import.meta.url);

/** The maximum length of a line that contains records. Longer lines are divided. */
const LINE_MAX = 8_000;

/** Returns the names of all results, sorted. */
export function listResults(): string[] {
  return readdirSync(FOLDER)
    .map((file) => file.replace('.json', ''))
    .sort();
}

/** Returns the report of that name. Throws if there is none. */
export function readResult(name: string): Report {
  return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')) as Report;
}

/** Writes a report, in place of the one of that name if there is one. */
export function writeResult(name: string, report: Report): void {
  mkdirSync(FOLDER, { recursive: true });
  const fields = Object.entries(report).filter(([, value]) => value !== undefined);
  const lines = fields.map(([key, value]) => {
    const maxLine = key === 'rows' || key === 'bars' ? 0 : LINE_MAX;
    return `"${key}":${formatLines(value, maxLine)}`;
  });
  writeFileSync(new URL(`${name}.json`, FOLDER), `{\n${lines.join(',\n')}\n}\n`);
}

/** Returns JSON with a line for each record, or for as many records as fit into a line. */
export function formatLines(value: unknown, maxLine: number): string {
  const line = JSON.stringify(value);
  if (line.length <= maxLine || !holdsRecords(value)) return line;
  if (Array.isArray(value))
    return `[\n${value.map((item) => formatLines(item, maxLine)).join(',\n')}\n]`;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{\n${fields.map(([key, field]) => `${JSON.stringify(key)}:${formatLines(field, maxLine)}`).join(',\n')}\n}`;
}

/** Returns whether the value contains an object at any depth. */
function holdsRecords(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(
    (item) =>
      holdsRecords(item) || (typeof item === 'object' && item !== null && !Array.isArray(item)),
  );
}
