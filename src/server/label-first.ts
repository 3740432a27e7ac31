/** A short look at the labels of a service before it starts, while it is being developed. */
import { CorrectableError, isCorrectableError } from '../correctable/errors.ts';
import type { Arbitraries } from './label/values/arguments.ts';
import { Labelling, type LabelOptions } from './label/label-service.ts';
import type { LabelReport } from './label/report.ts';
import type { Service } from './service/service.ts';
import { guardedRun } from './site/generator-guard.ts';

/** So many runs, or so many for each pair of updates, and no more once this time is over. */
const RUNS_MIN = 200;
const RUNS_OF_PAIR = 5;
const TIME_MAX_MS = 500;
/** Then a generator does not return. */
const STUCK_MS = 3000;

/** A service that is about to start. */
interface Starting {
  readonly service: Service;
  /** How its authors draw arguments, where they say. */
  readonly arbitraries?: Arbitraries | undefined;
  /** How it was given, and what starts it all the same, as who has started it says it. */
  readonly words: { readonly given: string; readonly force: string };
}

/**
 * Looks for what two sites can break.
 *
 * @param onTrouble called with what is wrong with a generator, or why nothing could be said
 * @throws CorrectableError `INVALID_ARGUMENT` with the story, where a shadow operation must not have the colour that it has
 */
export function labelFirst({ service, arbitraries, words }: Starting, onTrouble: OnTrouble): void {
  const report = shortLook(service, { runs: runsOf(service), ...(arbitraries && { arbitraries }) }, onTrouble);
  for (const { name, declared, verdict, reason, counterexample } of report?.shadows ?? []) {
    if (verdict !== 'unsafe') continue;
    const story = (counterexample?.story ?? []).map((line) => `\n  ${line}`).join('');
    const advice = `correctables label says more; ${words.force}`;
    const message = `${words.given}: the shadow operation '${name}' is declared ${declared}, and ${reason}.${story}\n${advice}.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'service' });
  }
  for (const { operation, isFault, problem } of report?.generators ?? []) {
    if (isFault) onTrouble(`The generator of '${operation}' is wrong: ${problem}. correctables label says more.`);
  }
}

type OnTrouble = (message: string) => void;

/** The report, up to where it was stopped; none if not even a first run could begin. */
function shortLook(service: Service, options: LabelOptions, onTrouble: OnTrouble): LabelReport | undefined {
  const untilMs = performance.now() + TIME_MAX_MS;
  const isOver = (): boolean => performance.now() >= untilMs;
  let labelling = undefined as Labelling | undefined;
  let stop: string | undefined;
  try {
    guardedRun(() => {
      labelling = new Labelling(service, options);
      labelling.goOn(isOver, isOver);
    }, STUCK_MS);
  } catch (error) {
    if (!isCorrectableError(error, 'FINAL_FAILED')) throw error;
    stop = error.message;
  }
  const report = labelling?.report;
  if (stop !== undefined) {
    const runs = report?.runs ?? 0;
    const looked = runs === 0 ? 'were not looked at' : `were looked at in ${runs} runs alone`;
    const again = labelling && ` correctables label --seed ${labelling.seed} --runs 1 says more.`;
    onTrouble(`The labels of the service ${looked}: ${stop}${again ?? ''}`);
  }
  return report;
}

function runsOf({ contract: { operations } }: Service): number {
  const updates = Object.values(operations).filter(({ effect }) => effect === 'update').length;
  return Math.max(RUNS_MIN, RUNS_OF_PAIR * updates ** 2);
}
