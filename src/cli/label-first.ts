/**
 * A short look at the labels of a service before it is served, while it is being developed: once for each version of it,
 * which the data folder remembers.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { CorrectableError, isCorrectableError } from '../correctable/errors.ts';
import type { Arbitraries } from '../server/label/values/draw.ts';
import { labelService } from '../server/label/label-service.ts';
import type { LabelReport } from '../server/label/report.ts';
import { serviceVersion } from '../server/label/service-version.ts';
import type { Service } from '../server/service/service.ts';
import { guardedRun } from '../server/site/generator-guard.ts';

/** So many runs, or so many for each pair of updates, and no more once this time is over. */
const RUNS_MIN = 200;
const RUNS_OF_PAIR = 5;
const TIME_MAX_MS = 1000;
/** Then a generator does not return. */
const STUCK_MS = 3000;

const REMEMBERED = 'labelled.json';
/** For its owner alone, as all in a data folder. */
const FILE_MODE = 0o600;

/** The service, as its module exports it. */
interface Loaded {
  readonly service: Service;
  readonly module: Readonly<Record<string, unknown>>;
  /** None where nothing is kept. */
  readonly dataDir: string | undefined;
}

/**
 * Looks for what two sites can break. Gives what notes down that it was done, for when the data folder is there.
 *
 * @param onTrouble told why nothing could be said
 * @throws CorrectableError `INVALID_ARGUMENT` with the story, where a shadow operation must not have the colour that it has
 */
export function labelFirst({ service, module, dataDir }: Loaded, onTrouble: (message: string) => void): () => void {
  const version = serviceVersion(service);
  if (process.env['NODE_ENV'] === 'production' || isRemembered(dataDir, version)) return () => {};
  const report = shortReport(service, module, onTrouble);
  if (report === undefined) return () => {};
  for (const { name, declared, verdict, reason, counterexample } of report.shadows) {
    if (verdict !== 'unsafe') continue;
    const story = (counterexample?.story ?? []).map((line) => `\n  ${line}`).join('');
    const advice = 'correctables label says more; --force serves it all the same';
    const message = `--service: the shadow operation '${name}' is declared ${declared}, and ${reason}.${story}\n${advice}.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'service' });
  }
  for (const { operation, isFault, problem } of report.generators) {
    if (isFault) onTrouble(`The generator of '${operation}' is wrong: ${problem}. correctables label says more.`);
  }
  return () => {
    if (dataDir === undefined) return;
    try {
      fs.writeFileSync(join(dataDir, REMEMBERED), `${JSON.stringify({ version })}\n`, { mode: FILE_MODE });
    } catch (error) {
      onTrouble(`That the labels of the service were looked at is not remembered: ${(error as Error).message}`);
    }
  };
}

function shortReport(
  service: Service,
  module: Loaded['module'],
  onTrouble: (message: string) => void,
): LabelReport | undefined {
  const untilMs = performance.now() + TIME_MAX_MS;
  const { arbitraries } = module;
  try {
    return guardedRun(() => {
      return labelService(service, {
        runs: runsOf(service),
        goesOn: () => performance.now() < untilMs,
        ...(arbitraries !== undefined && { arbitraries: arbitraries as Arbitraries }),
      });
    }, STUCK_MS) as LabelReport;
  } catch (error) {
    if (!isCorrectableError(error, 'FINAL_FAILED')) throw error;
    onTrouble(`The labels of the service were not looked at: ${error.message}`);
    return undefined;
  }
}

function runsOf({ contract: { operations } }: Service): number {
  const updates = Object.values(operations).filter(({ effect }) => effect === 'update').length;
  return Math.max(RUNS_MIN, RUNS_OF_PAIR * updates ** 2);
}

function isRemembered(dataDir: string | undefined, version: string): boolean {
  if (dataDir === undefined) return false;
  try {
    const remembered = JSON.parse(fs.readFileSync(join(dataDir, REMEMBERED), 'utf8')) as { readonly version?: unknown };
    return remembered.version === version;
  } catch {
    return false;
  }
}
