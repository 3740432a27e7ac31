/** `correctables label`: reports which shadow operations of a service may be blue. */
import type { Principal } from '../correctable/binding.ts';
import { CorrectableError, check, isCorrectableError } from '../correctable/errors.ts';
import type { Arbitraries } from '../server/check/values/argument-generator.ts';
import { ANALYSIS_OPTIONS, type ColorAnalysisOptions } from '../server/check/analysis-options.ts';
import type { ColorAnalysis } from '../server/check/analyze-colors.ts';
import {
  hasViolations,
  type CalledOperation,
  type ColorReport,
  type ShadowVerdict,
} from '../server/check/color-report.ts';
import { runWithTimeout } from '../server/node/generator-timeout.ts';
import type { Command } from './command.ts';
import { loadModule, findService } from './load-module.ts';
import { integer } from '../correctable/options.ts';
import { createUsageError, readNumber, type RawOptions } from './options.ts';
import { colorVerdict, printLines, redirectModuleOutput } from './print.ts';
import { serializeArgs } from '../server/check/values/format-values.ts';

const SERVICE_ARGUMENT = '<service>';
const MAX_RUNS = 1_000_000_000;
const EXIT_VIOLATIONS = 1;
const PROGRESS_INTERVAL_MS = 2000;

/**
 * A run takes milliseconds, so after `stuckMs` it counts as one that never returns. Several runs
 * share one time limit, `guardedMs`. Shrinking a counterexample gets extra time.
 */
const TIME_LIMITS = { stuckMs: 10_000, guardedMs: 500, shrinkingMs: 5000 };

export const LABEL: Command = {
  name: 'label',
  summary: 'Report which shadow operations of a service may be blue, with counterexamples',
  argument: { typed: SERVICE_ARGUMENT, names: 'module' },
  flags: [
    {
      typed: '--runs <count>',
      text: 'Make this many runs',
      defaultValue: ANALYSIS_OPTIONS.runs.defaultValue,
    },
    {
      typed: '--seed <n>',
      text: 'Start with this seed; the other runs use the next ones',
      defaultValue: ANALYSIS_OPTIONS.seed.defaultValue,
    },
    { typed: '--json', text: 'Print the report as one JSON line' },
  ],
  example: 'correctables label shop.js',
  run: label,
};

/**
 * Prints a verdict on each shadow operation, progress on stderr. Exit code 1 if a declaration is
 * unsafe.
 */
async function label(options: RawOptions, path: string | undefined): Promise<void> {
  if (path === undefined) throw createUsageError(SERVICE_ARGUMENT, 'is required: name the module');
  const runs = readNumber(options, 'runs', integer({ max: MAX_RUNS }));
  // The report suggests seeds for another run, so each must be a valid `--seed`.
  const seed = readNumber(options, 'seed', integer({ min: 0, max: 2 ** 32 - runs }));
  const asJson = options['json'] === true;
  if (asJson) redirectModuleOutput();
  const module = await loadModule(SERVICE_ARGUMENT, path);
  const service = findService(module, SERVICE_ARGUMENT, path);
  const requests = parseRequests(module['requests']);
  const { ColorAnalysis: Labeling } = await import('../server/check/analyze-colors.ts');
  const startedAtMs = performance.now();
  const value: ColorAnalysisOptions = {
    runs,
    seed,
    ...(module['arbitraries'] !== undefined && {
      arbitraries: module['arbitraries'] as Arbitraries,
    }),
    ...(module['principals'] !== undefined && {
      principals: module['principals'] as readonly Principal[],
    }),
    ...(requests !== undefined && { requests }),
    shouldContinue: createProgressReporter(runs, startedAtMs),
  };
  const labeling = beginWithTimeout(() => new Labeling(service, value));
  try {
    runAll(labeling);
  } finally {
    // Print the report even if code of the service threw or did not return: earlier findings are
    // still valid.
    await printReport(labeling.report, { asJson, startedAtMs });
  }
}

async function printReport(
  report: ColorReport,
  { asJson, startedAtMs }: { readonly asJson: boolean; readonly startedAtMs: number },
): Promise<void> {
  const { shadows, generators, table, ...rest } = report;
  const seconds = Math.round(performance.now() - startedAtMs) / 1000;
  const timed: TimedReport = { ...rest, seconds, shadows, generators, table };
  if (hasViolations(report)) process.exitCode = EXIT_VIOLATIONS;
  const serialize = (): string =>
    JSON.stringify({ ...rest, seconds, generators, table, shadows: shadows.map(serializeVerdict) });
  await printLines(asJson ? [serialize()] : formatReport(timed));
}

/**
 * Begins the analysis with a time limit. It first evaluates conditions on empty tables, which are
 * code of the service. @throws CorrectableError if a condition does not return
 */
export function beginWithTimeout(
  begin: () => ColorAnalysis,
  { stuckMs } = TIME_LIMITS,
): ColorAnalysis {
  const description = 'a condition of snapshotInvariants has not returned, of empty tables';
  return runWithTimeLimit(
    begin,
    stuckMs,
    () => `for ${stuckMs / 1000} s ${description}`,
  ) as ColorAnalysis;
}

/**
 * Makes all runs. Several runs share one time limit, because a limit for each run would double the
 * time. @throws CorrectableError naming the run that does not return
 */
export function runAll(
  labeling: ColorAnalysis,
  { stuckMs, guardedMs, shrinkingMs } = TIME_LIMITS,
): void {
  const description =
    'code of the service has not returned: a generator, a condition, or what draws arguments';
  while (!labeling.isDone) {
    const untilMs = performance.now() + guardedMs;
    const isOver = (lateMs: number): boolean => performance.now() >= untilMs + lateMs;
    runWithTimeLimit(
      () =>
        labeling.continueRuns(
          () => isOver(0),
          () => isOver(shrinkingMs),
        ),
      guardedMs + shrinkingMs + stuckMs,
      () => `for ${stuckMs / 1000} s ${description}. Again: --seed ${labeling.seed} --runs 1`,
    );
  }
}

/**
 * @throws CorrectableError `FINAL_FAILED` that describes the code which has not returned in time,
 * and every error of `run`
 */
function runWithTimeLimit(
  run: () => unknown,
  timeMaxMs: number,
  description: () => string,
): unknown {
  try {
    return runWithTimeout(run, timeMaxMs);
  } catch (error) {
    if (!isCorrectableError(error, 'FINAL_FAILED')) throw error;
    throw new CorrectableError('FINAL_FAILED', description(), { cause: error });
  }
}

function createProgressReporter(runs: number, startedAtMs: number): (made: number) => true {
  let reportedAtMs = startedAtMs;
  return (made) => {
    const nowMs = performance.now();
    if (nowMs - reportedAtMs >= PROGRESS_INTERVAL_MS) {
      console.error(`${made} of ${runs} runs`);
      reportedAtMs = nowMs;
    }
    return true;
  };
}

function parseRequests(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const count = Array.isArray(value) ? value.length : value;
  check(Number.isInteger(count), 'requests', 'export their number, or a list of their names');
  return count as number;
}

/** The output with `--json`. */
interface TimedReport extends ColorReport {
  /** How long the runs took. */
  readonly seconds: number;
}

/**
 * Formats the verdicts as a table, then the counterexamples, the findings about generators, and the
 * statistics of the service.
 */
function formatReport({
  service,
  runs,
  seed,
  seconds,
  shadows,
  warnings,
  generators,
  table,
}: TimedReport): readonly string[] {
  const requests = table.requests === null ? '' : `${table.requests} requests of users, `;
  const seeds = runs === 0 ? '' : `, seeds ${seed} to ${seed + runs - 1}`;
  return [
    `${service}: ${runs} runs${seeds}, in ${seconds} s`,
    '',
    ...formatTable(shadows),
    ...shadows.flatMap(formatCounterexample),
    ...warnings.flatMap((warning) => [
      '',
      `warning: ${warning.message} (${warning.times} times)`,
      `  Again: --seed ${warning.seed} --runs 1`,
    ]),
    ...generators.flatMap(({ operation, isFault, problem, times }) => [
      '',
      `${isFault ? colorVerdict('FAULT', 'bad') : 'note'}: the generator of ${operation}: ${problem} (${times} times)`,
    ]),
    '',
    `${requests}${table.transactions} operations: ${table.readOnly} read, ${table.writes} write. Shadow operations as declared: ` +
      `${table.shadowBlueNoop} that do nothing, ${table.shadowBlue} blue, ${table.shadowRed} red.`,
  ];
}

const UNSAFE = 'UNSAFE';
const HEADINGS = ['shadow operation', 'operation', 'declared', 'verdict', 'reason'] as const;

/** Colors a cell that says that a shadow operation is unsafe. */
function colorUnsafe(cell: string): string {
  return cell.replace(UNSAFE, (verdict) => colorVerdict(verdict, 'bad'));
}

function formatTable(shadows: readonly ShadowVerdict[]): readonly string[] {
  const rows = shadows.map(({ name, operation, declaredColor, verdict, reason }) => {
    return [name, operation ?? '–', declaredColor, verdict === 'unsafe' ? UNSAFE : verdict, reason];
  });
  const widths = HEADINGS.map((heading, at) =>
    Math.max(heading.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  return [HEADINGS, ...rows].map((row) =>
    row
      .map((cell, at) => colorUnsafe(cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

function formatCounterexample({
  name,
  declaredColor,
  verdict,
  counterexample,
}: ShadowVerdict): readonly string[] {
  if (counterexample === undefined) return [];
  const { explanation, seed } = counterexample;
  const wrong = verdict === 'unsafe' ? `${UNSAFE}, declared ${declaredColor}` : verdict;
  return [
    '',
    `${name} (${colorUnsafe(wrong)}):`,
    ...explanation.map((line) => `  ${line}`),
    `  Again: --seed ${seed} --runs 1`,
  ];
}

function serializeVerdict({ counterexample, ...verdict }: ShadowVerdict): ShadowVerdict {
  if (counterexample === undefined) return verdict;
  const { past, here, there } = counterexample;
  const calls = {
    past: past.map(serializeCall),
    here: serializeCall(here),
    there: there.map(serializeCall),
  };
  return { ...verdict, counterexample: { ...counterexample, ...calls } };
}

function serializeCall({ args, ...call }: CalledOperation): CalledOperation {
  return { ...call, args: serializeArgs(args) };
}
