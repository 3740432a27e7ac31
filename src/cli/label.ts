/** `correctables label`: says which shadow operations of a service may be blue. */
import { check } from '../correctable/errors.ts';
import type { Arbitraries } from '../server/label/values/draw.ts';
import { labelService } from '../server/label/label-service.ts';
import { isRefused } from '../server/label/report.ts';
import type { Command } from './command.ts';
import { linesOf } from './label-lines.ts';
import type { TimedReport } from './label-lines.ts';
import { loadModule } from './load-module.ts';
import { serviceIn } from './load-service.ts';
import { usageError, wholeNumber, type Raw } from './options.ts';

/** What names the service on the command line. */
const PLACE = '<service>';
const RUNS_MAX = 1_000_000_000;
const EXIT_REFUSED = 1;
const TOLD_EVERY_MS = 2000;

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
  const seed = wholeNumber(options, 'seed', { min: 0, max: 2 ** 32 - 1 });
  const module = await loadModule(PLACE, path);
  const service = serviceIn(module, PLACE, path);
  const requests = requestsOf(module['requests']);
  const startedAtMs = performance.now();
  const report = labelService(service, {
    runs,
    seed,
    ...(module['arbitraries'] !== undefined && { arbitraries: module['arbitraries'] as Arbitraries }),
    ...(requests !== undefined && { requests }),
    goesOn: progress(runs, startedAtMs),
  });
  const { shadows, generators, table, ...rest } = report;
  const seconds = Math.round(performance.now() - startedAtMs) / 1000;
  const timed: TimedReport = { ...rest, seconds, shadows, generators, table };
  for (const line of options['json'] === true ? [JSON.stringify(timed)] : linesOf(timed)) console.log(line);
  if (isRefused(report)) process.exitCode = EXIT_REFUSED;
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
