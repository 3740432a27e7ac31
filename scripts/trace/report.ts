/** Counts what a walk has recorded, and prints its way as an indented list. */
import { dirname } from 'node:path';
import type { InstrumentedFunction } from './instrument.ts';
import type { Trace } from './recorder.ts';

export interface TraceCounts {
  readonly files: number;
  readonly folders: number;
  readonly functions: number;
  readonly calls: number;
  /** How often the name of the operation was used as a key. */
  readonly lookups: number;
  /** Objects and arrays that were created by an expression. */
  readonly created: number;
}

export function countTrace(
  { steps, lookups, created }: Trace,
  functions: readonly InstrumentedFunction[],
): TraceCounts {
  const used = new Set(steps.map(({ functionId }) => functionId));
  const files = new Set([...used].map((id) => functions[id]?.file ?? ''));
  return {
    files: files.size,
    folders: new Set([...files].map((file) => dirname(file))).size,
    functions: used.size,
    calls: steps.length,
    lookups: lookups.length,
    created,
  };
}

/** Returns the functions in which the name of the operation is looked up, in their order. */
export function formatLookups(
  { steps, lookups }: Trace,
  functions: readonly InstrumentedFunction[],
): readonly string[] {
  return lookups.map((index) => {
    const { file, name, line } = functions[steps[index]?.functionId ?? -1] ?? {};
    return `${name}  ${file}:${line}`;
  });
}

export function formatCounts(counts: TraceCounts): string {
  const { files, folders, functions, calls, lookups, created } = counts;
  return [
    `${files} files in ${folders} folders, ${functions} functions, ${calls} calls`,
    `the name of the operation is looked up ${lookups} times`,
    `${created} objects and arrays are created`,
  ].join('\n');
}

/** Returns a line for each call: indented by its depth, with the file where that changes. */
export function formatWay(
  { steps }: Trace,
  functions: readonly InstrumentedFunction[],
): readonly string[] {
  const lowest = Math.min(...steps.map(({ depth }) => depth));
  const lines: string[] = [];
  let lastFile = '';
  for (const { functionId, depth } of steps) {
    const { file = '', name = '', line = 0 } = functions[functionId] ?? {};
    const place = file === lastFile ? '' : `  ${file}:${line}`;
    lines.push(`${'  '.repeat(depth - lowest)}${name}${place}`);
    lastFile = file;
  }
  return lines;
}
