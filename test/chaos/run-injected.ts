/** Injects each bug in turn, and plays short rounds until it is caught. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../../engines/usage-error.ts';
import { buildPatched, INJECTED_BUGS } from './injected-bugs.ts';
import type { Options } from './options.ts';
import { run } from './run.ts';

const RUNS_MAX = 10;
const RUN_MINUTES = 0.2;

export interface InjectedResult {
  readonly bug: string;
  /** In which run it was caught; absent if it was not. */
  readonly caughtIn?: number;
  /** What was found first by a checker that has to notice. */
  readonly fault?: string;
}

export async function runInjected(
  options: Options,
  progress: (line: string) => void,
): Promise<InjectedResult[]> {
  const { only, engine } = options;
  const all = Object.entries(INJECTED_BUGS).filter(([, { engines = ['built-in'] }]) =>
    engines.includes(engine),
  );
  const names = all.map(([name]) => name).filter((name) => only === undefined || name === only);
  if (names.length === 0) {
    throw new UsageError(
      `--only takes one of ${all.map(([name]) => name).join(', ')}, not "${only}"`,
    );
  }
  const results: InjectedResult[] = [];
  for (const bug of names) {
    const result = await catchBug(bug, options, progress);
    progress(
      `${bug}: ${result.caughtIn === undefined ? 'NOT caught' : `caught in run ${result.caughtIn}`}`,
    );
    results.push(result);
  }
  return results;
}

async function catchBug(
  bug: string,
  options: Options,
  progress: (line: string) => void,
): Promise<InjectedResult> {
  const injected = INJECTED_BUGS[bug];
  if (injected === undefined) throw new Error(`there is no bug "${bug}"`);
  const { caughtBy, scenario } = injected;
  const directory = await mkdtemp(join(tmpdir(), 'correctables-bug-'));
  try {
    const build = await buildPatched(join(directory, 'package'), injected.replacements);
    for (let at = 1; at <= RUNS_MAX; at += 1) {
      const plan = { ...options, minutes: RUN_MINUTES, seed: options.seed + at, scenario };
      const found = await run(plan, (line) => progress(`${bug}, run ${at}: ${line}`), build);
      const fault = found.faults.find((text) =>
        caughtBy.some((name) => text.includes(`: ${name}: `)),
      );
      if (fault !== undefined) return { bug, caughtIn: at, fault };
    }
    return { bug };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
