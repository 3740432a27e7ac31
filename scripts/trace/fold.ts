/** Shows the calls within some folders as one line: a way with fewer leaves. */
import type { InstrumentedFunction } from './instrument.ts';
import type { TraceStep } from './recorder.ts';

/** A call, or all calls within a folder that follow each other. */
export interface WayStep extends TraceStep {
  /** The folder, if this stands for several calls. */
  readonly folder?: string;
  /** How many calls this stands for. */
  readonly calls: number;
}

/**
 * Joins the steps within each of `folders`, such as `protocol/codec`. A call that leads out of a
 * folder is shown, and what follows it within the folder begins another line.
 */
export function foldSteps(
  steps: readonly TraceStep[],
  functions: readonly InstrumentedFunction[],
  folders: readonly string[],
): readonly WayStep[] {
  const way: WayStep[] = [];
  for (const step of steps) {
    const file = functions[step.functionId]?.file ?? '';
    const folder = findFolder(file, folders);
    const last = way.at(-1);
    if (folder === undefined) way.push({ ...step, calls: 1 });
    else if (last?.folder === folder && step.depth >= last.depth)
      way[way.length - 1] = { ...last, calls: last.calls + 1 };
    else way.push({ ...step, folder, calls: 1 });
  }
  return way;
}

/** Returns those of `folders` in which no function is that has run. */
export function findUnusedFolders(
  steps: readonly TraceStep[],
  functions: readonly InstrumentedFunction[],
  folders: readonly string[],
): readonly string[] {
  const files = new Set(steps.map(({ functionId }) => functions[functionId]?.file ?? ''));
  return folders.filter((folder) => ![...files].some((file) => isWithin(file, folder)));
}

export function findFolder(file: string, folders: readonly string[]): string | undefined {
  return folders.find((folder) => isWithin(file, folder));
}

function isWithin(file: string, folder: string): boolean {
  return `/${file}`.includes(`/${folder}/`);
}
