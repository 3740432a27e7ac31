/**
 * A short look at the labels of a service before it starts, while it is being developed: once for each version of it,
 * which the data folder remembers with how many runs there were. What time did not allow is done at the next start.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { CorrectableError, isCorrectableError } from '../correctable/errors.ts';
import type { Arbitraries } from './label/values/draw.ts';
import { Labelling } from './label/label-service.ts';
import type { LabelOptions } from './label/label-service.ts';
import { UNDRAWN, untriedIn } from './label/report.ts';
import type { LabelReport } from './label/report.ts';
import { serviceVersion } from './label/service-version.ts';
import type { Service } from './service/service.ts';
import { guardedRun } from './site/generator-guard.ts';

/** So many runs, or so many for each pair of updates, and no more once this time is over. */
const RUNS_MIN = 200;
const RUNS_OF_PAIR = 5;
const TIME_MAX_MS = 1000;
/** Then a generator does not return. */
const STUCK_MS = 3000;

const REMEMBERED = 'labelled.json';
/** For its owner alone, as all in a data folder. */
const FILE_MODE = 0o600;

/** A service that is about to start. */
interface Starting {
  readonly service: Service;
  /** The text of its module, where that is at hand. */
  readonly moduleText?: string;
  /** How its authors draw arguments, where they say. */
  readonly arbitraries?: Arbitraries | undefined;
  /** None where nothing is kept. */
  readonly dataDir: string | undefined;
  /** How it was given, and what starts it all the same, as who has started it says it. */
  readonly words: { readonly given: string; readonly force: string };
}

/** Of which version there were how many runs. */
interface Remembered {
  readonly version: string;
  readonly runs: number;
}

/**
 * Looks for what two sites can break. Gives what notes down that it was done, for when the data folder is there.
 *
 * @param onTrouble told why nothing could be said
 * @throws CorrectableError `INVALID_ARGUMENT` with the story, where a shadow operation must not have the colour that it has
 */
export function labelFirst(
  { service, moduleText, arbitraries, dataDir, words }: Starting,
  onTrouble: OnTrouble,
): () => void {
  const version = serviceVersion(service, moduleText);
  const made = runsOfVersion(dataDir, version);
  const wanted = runsOf(service) - made;
  if (wanted <= 0) return doNothing;
  const look = shortLook(service, { runs: wanted, seed: made + 1, ...(arbitraries && { arbitraries }) }, onTrouble);
  if (look === undefined) return doNothing;
  const { report, isStopped } = look;
  for (const { name, declared, verdict, reason, counterexample } of report.shadows) {
    if (verdict !== 'unsafe') continue;
    const story = (counterexample?.story ?? []).map((line) => `\n  ${line}`).join('');
    const advice = `correctables label says more; ${words.force}`;
    const message = `${words.given}: the shadow operation '${name}' is declared ${declared}, and ${reason}.${story}\n${advice}.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'service' });
  }
  const faults = report.generators.filter(({ isFault }) => isFault);
  for (const { operation, problem } of faults) {
    onTrouble(`The generator of '${operation}' is wrong: ${problem}. correctables label says more.`);
  }
  const untried = untriedIn(report);
  for (const operation of untried) {
    onTrouble(`Nothing was tried of '${operation}': ${UNDRAWN}. Say how to draw them, by arbitraries.`);
  }
  // What is wrong is told each time, and what nobody knows.
  return isStopped || faults.length + untried.length > 0
    ? doNothing
    : () => remember(dataDir, { version, runs: made + report.runs }, onTrouble);
}

type OnTrouble = (message: string) => void;

function doNothing(): void {}

/** What was found; the same where code of the service then did not return, and it was stopped. */
interface Look {
  readonly report: LabelReport;
  readonly isStopped: boolean;
}

/** None where not even a first run could be begun. */
function shortLook(service: Service, options: LabelOptions, onTrouble: OnTrouble): Look | undefined {
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
  return report && { report, isStopped: stop !== undefined };
}

function runsOf({ contract: { operations } }: Service): number {
  const updates = Object.values(operations).filter(({ effect }) => effect === 'update').length;
  return Math.max(RUNS_MIN, RUNS_OF_PAIR * updates ** 2);
}

/** How many runs of this version are remembered. */
function runsOfVersion(dataDir: string | undefined, version: string): number {
  if (dataDir === undefined) return 0;
  try {
    const text = fs.readFileSync(join(dataDir, REMEMBERED), 'utf8');
    const remembered = JSON.parse(text) as Partial<Record<keyof Remembered, unknown>>;
    const isKnown = remembered.version === version && Number.isSafeInteger(remembered.runs);
    return isKnown ? Math.max(0, remembered.runs as number) : 0;
  } catch {
    return 0;
  }
}

function remember(dataDir: string | undefined, remembered: Remembered, onTrouble: OnTrouble): void {
  if (dataDir === undefined) return;
  try {
    fs.writeFileSync(join(dataDir, REMEMBERED), `${JSON.stringify(remembered)}\n`, { mode: FILE_MODE });
  } catch (error) {
    onTrouble(`That the labels of the service were looked at is not remembered: ${(error as Error).message}`);
  }
}
