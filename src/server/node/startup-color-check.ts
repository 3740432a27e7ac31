/** Checks the colors of a service briefly before it starts, while it is being developed. */
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import type { Arbitraries } from '../check/values/argument-generator.ts';
import type { ColorAnalysisOptions } from '../check/analysis-options.ts';
import { ColorAnalysis } from '../check/analyze-colors.ts';
import type { ColorReport } from '../check/color-report.ts';
import type { Service } from '../service/service.ts';
import { isInDevelopment } from './is-in-development.ts';
import { runWithTimeout } from './generator-timeout.ts';

/**
 * The check runs at least `MIN_RUNS` times, and more often for many writes, but not longer than
 * `MAX_TIME_MS`.
 */
const MIN_RUNS = 200;
const RUNS_PER_PAIR = 5;
const MAX_TIME_MS = 500;
/** After this time a generator is assumed never to return. */
const RUN_TIMEOUT_MS = 3000;

interface StartingService {
  readonly service: Service;
  /** Draws the arguments of operations, if the service's module exports it. */
  readonly arbitraries?: Arbitraries | undefined;
  /**
   * Names the service and the way to skip the check, in the words of the command or call that
   * starts it.
   */
  readonly messages: { readonly source: string; readonly skipFlag: string };
}

/**
 * Throws `INVALID_ARGUMENT` with a counterexample if a color is wrong. Other findings go to
 * `onWarning`.
 */
export function checkColorsAtStartup(
  { service, arbitraries, messages }: StartingService,
  onWarning: OnWarning,
): void {
  const report = runShortAnalysis(
    service,
    { runs: countRuns(service), ...(arbitraries && { arbitraries }) },
    onWarning,
  );
  for (const { name, declaredColor, verdict, reason, counterexample } of report?.shadows ?? []) {
    if (verdict !== 'unsafe') continue;
    const story = (counterexample?.explanation ?? []).map((line) => `\n  ${line}`).join('');
    const advice = `run correctables label for details; ${messages.skipFlag}`;
    const message = `${messages.source}: the shadow operation '${name}' is declared ${declaredColor}, and ${reason}.${story}\n${advice}.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'service',
    });
  }
  for (const { message } of report?.warnings ?? [])
    onWarning(`${message} Run correctables label for details.`);
  for (const { operation, isFault, problem } of report?.generators ?? []) {
    if (isFault)
      onWarning(
        `The generator of '${operation}' is wrong: ${problem}. Run correctables label for details.`,
      );
  }
}

/**
 * Checks the colors if the option asks for it. By default it does so for a deployment with a data
 * directory, while the service is being developed.
 */
export function checkColorsIfEnabled(
  service: Service,
  options: {
    readonly dataDir?: string | undefined;
    readonly checkColors?: boolean | undefined;
  },
  onWarning: OnWarning,
): void {
  const isDefault = options.dataDir !== undefined && isInDevelopment();
  if (!(options.checkColors ?? isDefault)) return;

  const messages = {
    source: 'service',
    skipFlag: 'checkColors: false starts it all the same',
  };
  checkColorsAtStartup({ service, messages }, onWarning);
}

type OnWarning = (message: string) => void;

/**
 * Returns the report, up to where the check was stopped; `undefined` if not even the first run
 * could begin.
 */
function runShortAnalysis(
  service: Service,
  options: ColorAnalysisOptions,
  onWarning: OnWarning,
): ColorReport | undefined {
  const untilMs = performance.now() + MAX_TIME_MS;
  const isOver = (): boolean => performance.now() >= untilMs;
  let analysis = undefined as ColorAnalysis | undefined;
  let stop: string | undefined;
  try {
    runWithTimeout(() => {
      analysis = new ColorAnalysis(service, options);
      analysis.continueRuns(isOver, isOver);
    }, RUN_TIMEOUT_MS);
  } catch (error) {
    if (!isCorrectableError(error, 'FINAL_FAILED')) throw error;
    stop = error.message;
  }
  const report = analysis?.report;
  if (stop !== undefined) {
    const runs = report?.runs ?? 0;
    const looked = runs === 0 ? 'were not looked at' : `were looked at in ${runs} runs alone`;
    const again =
      analysis && ` correctables label --seed ${analysis.seed} --runs 1 shows the details.`;
    onWarning(`The labels of the service ${looked}: ${stop}${again ?? ''}`);
  }
  return report;
}

function countRuns({ contract: { operations } }: Service): number {
  const updates = Object.values(operations).filter(({ access }) => access === 'write').length;
  return Math.max(MIN_RUNS, RUNS_PER_PAIR * updates ** 2);
}
