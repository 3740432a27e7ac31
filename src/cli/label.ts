/** `correctables label`: says which shadow operations of a service may be blue. */
import { CorrectableError, check, isCorrectableError } from '../correctable/errors.ts';
import type { Arbitraries } from '../server/label/values/arguments.ts';
import type { LabelOptions, Labelling } from '../server/label/label-service.ts';
import { isRefused, type CalledOperation, type LabelReport, type ShadowVerdict } from '../server/label/report.ts';
import { guardedRun } from '../server/site/generator-guard.ts';
import type { Command } from './command.ts';
import { loadModule, serviceIn } from './load-module.ts';
import { usageError, wholeNumber, type Raw } from './options.ts';
import { divertModules, print } from './print.ts';
import { writtenArgs } from '../server/label/values/shown.ts';

/** What names the service on the command line. */
const PLACE = '<service>';
const RUNS_MAX = 1_000_000_000;
const EXIT_REFUSED = 1;
const TOLD_EVERY_MS = 2000;

/**
 * How long code of a service may take. A run takes some milliseconds, so what takes `stuckMs` never returns. Runs share a
 * guard for `guardedMs`. What was found is made simpler for at most `shrinkingMs` beyond that.
 */
const PATIENCE = { stuckMs: 10_000, guardedMs: 500, shrinkingMs: 5000 };

export const LABEL: Command = {
  name: 'label',
  what: 'Say which shadow operations of a service may be blue, with what two sites can break',
  word: { typed: PLACE, names: 'module' },
  flags: [
    ['--runs <count>', 'How many runs', 10_000],
    ['--seed <n>', 'Seed of the first run; the others follow', 1],
    ['--json', 'Print it as one JSON line'],
  ],
  example: 'correctables label shop.js',
  run: label,
};

/**
 * Prints a verdict on each shadow operation; on stderr how far it has come. The module exports `service` (or a default),
 * and if it likes `arbitraries`, by which arguments are drawn, and `requests`, the number or the names of what users of the
 * application ask for. Exit code 1 where a declaration is unsafe.
 */
async function label(options: Raw, path: string | undefined): Promise<void> {
  if (path === undefined) throw usageError(PLACE, 'is required: name the module');
  const runs = wholeNumber(options, 'runs', { min: 1, max: RUNS_MAX });
  // What it tells to run again has to be a seed that it takes.
  const seed = wholeNumber(options, 'seed', { min: 0, max: 2 ** 32 - runs });
  const asJson = options['json'] === true;
  if (asJson) divertModules();
  const module = await loadModule(PLACE, path);
  const service = serviceIn(module, PLACE, path);
  const requests = requestsOf(module['requests']);
  const { Labelling } = await import('../server/label/label-service.ts');
  const startedAtMs = performance.now();
  const given: LabelOptions = {
    runs,
    seed,
    ...(module['arbitraries'] !== undefined && { arbitraries: module['arbitraries'] as Arbitraries }),
    ...(requests !== undefined && { requests }),
    goesOn: progress(runs, startedAtMs),
  };
  const labelling = begun(() => new Labelling(service, given));
  try {
    makeAll(labelling);
  } finally {
    // What was found before code of the service threw or did not return was found all the same.
    await tell(labelling.report, { asJson, startedAtMs });
  }
}

/** Prints it, and has it in the exit code. */
async function tell(
  report: LabelReport,
  { asJson, startedAtMs }: { readonly asJson: boolean; readonly startedAtMs: number },
): Promise<void> {
  const { shadows, generators, table, ...rest } = report;
  const seconds = Math.round(performance.now() - startedAtMs) / 1000;
  const timed: TimedReport = { ...rest, seconds, shadows, generators, table };
  if (isRefused(report)) process.exitCode = EXIT_REFUSED;
  await print(asJson ? [jsonLineOf(timed)] : linesOf(timed));
}

/** Conditions are asked of empty tables first. @throws CorrectableError if that never ends */
export function begun(begin: () => Labelling, { stuckMs } = PATIENCE): Labelling {
  const what = 'a condition of snapshotInvariants has not returned, of empty tables';
  return guarded(begin, stuckMs, () => `for ${stuckMs / 1000} s ${what}`) as Labelling;
}

/** Makes all runs; a guard for each would cost as much as it does. @throws CorrectableError naming the run that never ends */
export function makeAll(labelling: Labelling, { stuckMs, guardedMs, shrinkingMs } = PATIENCE): void {
  const what = 'code of the service has not returned: a generator, a condition, or what draws arguments';
  while (!labelling.isDone) {
    const untilMs = performance.now() + guardedMs;
    const isOver = (lateMs: number): boolean => performance.now() >= untilMs + lateMs;
    guarded(
      () =>
        labelling.goOn(
          () => isOver(0),
          () => isOver(shrinkingMs),
        ),
      guardedMs + shrinkingMs + stuckMs,
      () => `for ${stuckMs / 1000} s ${what}. Again: --seed ${labelling.seed} --runs 1`,
    );
  }
}

/** @throws CorrectableError `FINAL_FAILED` with what has not returned in time, and what `run` throws */
function guarded(run: () => unknown, timeMaxMs: number, what: () => string): unknown {
  try {
    return guardedRun(run, timeMaxMs);
  } catch (error) {
    if (!isCorrectableError(error, 'FINAL_FAILED')) throw error;
    throw new CorrectableError('FINAL_FAILED', what(), { cause: error });
  }
}

/** Tells from time to time how many runs were made. */
function progress(runs: number, startedAtMs: number): (made: number) => true {
  let toldAtMs = startedAtMs;
  return (made) => {
    const nowMs = performance.now();
    if (nowMs - toldAtMs >= TOLD_EVERY_MS) {
      console.error(`${made} of ${runs} runs`);
      toldAtMs = nowMs;
    }
    return true;
  };
}

function requestsOf(given: unknown): number | undefined {
  if (given === undefined) return undefined;
  const count = Array.isArray(given) ? given.length : given;
  check(Number.isInteger(count), 'requests', 'export their number, or a list of their names');
  return count as number;
}

/** What is printed with `--json`. */
interface TimedReport extends LabelReport {
  /** How long the runs took. */
  readonly seconds: number;
}

/** The verdicts as a table, then the stories, what was found of generators, and the numbers of the service. */
function linesOf({ service, runs, seed, seconds, shadows, generators, table }: TimedReport): readonly string[] {
  const requests = table.requests === null ? '' : `${table.requests} requests of users, `;
  const seeds = runs === 0 ? '' : `, seeds ${seed} to ${seed + runs - 1}`;
  return [
    `${service}: ${runs} runs${seeds}, in ${seconds} s`,
    '',
    ...tableLines(shadows),
    ...shadows.flatMap(storyLines),
    ...generators.flatMap(({ operation, isFault, problem, times }) => [
      '',
      `${isFault ? 'FAULT' : 'note'}: the generator of ${operation}: ${problem} (${times} times)`,
    ]),
    '',
    `${requests}${table.transactions} operations: ${table.readOnly} read, ${table.updates} update. Shadow operations as declared: ` +
      `${table.shadowBlueNoop} that do nothing, ${table.shadowBlue} blue, ${table.shadowRed} red.`,
  ];
}

const HEADINGS = ['shadow operation', 'operation', 'declared', 'verdict', 'reason'] as const;

function tableLines(shadows: readonly ShadowVerdict[]): readonly string[] {
  const rows = shadows.map(({ name, operation, declared, verdict, reason }) => {
    return [name, operation ?? '–', declared, verdict === 'unsafe' ? 'UNSAFE' : verdict, reason];
  });
  const widths = HEADINGS.map((heading, at) => Math.max(heading.length, ...rows.map((row) => row[at]?.length ?? 0)));
  return [HEADINGS, ...rows].map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function storyLines({ name, declared, verdict, counterexample }: ShadowVerdict): readonly string[] {
  if (counterexample === undefined) return [];
  const { story, seed } = counterexample;
  const wrong = verdict === 'unsafe' ? `UNSAFE, declared ${declared}` : verdict;
  return ['', `${name} (${wrong}):`, ...story.map((line) => `  ${line}`), `  Again: --seed ${seed} --runs 1`];
}

/** What is printed with `--json`. */
function jsonLineOf({ shadows, ...rest }: TimedReport): string {
  return JSON.stringify({ ...rest, shadows: shadows.map(written) });
}

function written({ counterexample, ...verdict }: ShadowVerdict): ShadowVerdict {
  if (counterexample === undefined) return verdict;
  const { past, here, there } = counterexample;
  const calls = { past: past.map(writtenCall), here: writtenCall(here), there: there.map(writtenCall) };
  return { ...verdict, counterexample: { ...counterexample, ...calls } };
}

function writtenCall({ operation, args }: CalledOperation): CalledOperation {
  return { operation, args: writtenArgs(args) };
}
