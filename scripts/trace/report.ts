/** Counts what a walk has recorded, and prints its way as an indented list. */
import { dirname } from 'node:path';
import { findFolder, foldSteps } from './fold.ts';
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
  /** How many calls were made within each folder that is folded. */
  readonly folded?: Readonly<Record<string, number>>;
}

/** Counts a folder of `folded` as one file and one function, and calls within it as one call. */
export function countTrace(
  { steps, lookups, created }: Trace,
  functions: readonly InstrumentedFunction[],
  folded: readonly string[] = [],
): TraceCounts {
  const way = foldSteps(steps, functions, folded);
  const fileOf = (id: number): string => functions[id]?.file ?? '';
  const used = new Set(way.map(({ functionId, folder }) => folder ?? functionId));
  const files = new Set(way.map(({ functionId, folder }) => folder ?? fileOf(functionId)));
  const folders = new Set(
    way.map(({ functionId, folder }) => folder ?? dirname(fileOf(functionId))),
  );
  const within = folded.map((folder) => {
    const joined = steps.filter(({ functionId }) => findFolder(fileOf(functionId), [folder]));
    return [folder, joined.length] as const;
  });
  return {
    files: files.size,
    folders: folders.size,
    functions: used.size,
    calls: way.length,
    lookups: lookups.length,
    created,
    ...(folded.length > 0 && { folded: Object.fromEntries(within) }),
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
  const { files, folders, functions, calls, lookups, created, folded = {} } = counts;
  const within = Object.entries(folded).map(([folder, count]) => `${folder} (${count} calls)`);
  return [
    `${files} files in ${folders} folders, ${functions} functions, ${calls} calls`,
    ...(within.length > 0 ? [`counted as one file each: ${within.join(', ')}`] : []),
    `the name of the operation is looked up ${lookups} times`,
    `${created} objects and arrays are created`,
  ].join('\n');
}

/** Returns a line for each call: indented by its depth, with the file where that changes. */
export function formatWay(
  { steps }: Trace,
  functions: readonly InstrumentedFunction[],
  folded: readonly string[] = [],
): readonly string[] {
  const lowest = Math.min(...steps.map(({ depth }) => depth));
  const lines: string[] = [];
  let lastFile = '';
  for (const { functionId, depth, folder, calls } of foldSteps(steps, functions, folded)) {
    const indent = '  '.repeat(depth - lowest);
    if (folder !== undefined) {
      lines.push(`${indent}[${folder}: ${calls} ${calls === 1 ? 'call' : 'calls'}]`);
      continue;
    }
    const { file = '', name = '', line = 0 } = functions[functionId] ?? {};
    const place = file === lastFile ? '' : `  ${file}:${line}`;
    lines.push(`${indent}${name}${place}`);
    lastFile = file;
  }
  return lines;
}
