/**
 * `npm run chaos -- [--engine etcd] [--minutes N] [--seed S] [--json] [--history FILE]
 * [--injected]`: the processes of three sites under load and through faults; checkers judge the
 * recorded history. Exit 0 iff nothing was found; progress goes to stderr. `--world redis` disturbs
 * the causal store on Redis instead, with options of its own.
 */
import { EngineUnavailable } from '../../engines/engine.ts';
import { UsageError } from '../../engines/usage-error.ts';
import { checkRound } from './check-round.ts';
import { porcupineFaults } from './checks/porcupine.ts';
import { toEvidence } from './evidence.ts';
import { readHistory } from './history.ts';
import { parseOptions, type Options } from './options.ts';
import { runInjected } from './run-injected.ts';
import { isStorm, stormMain } from './redis/cli.ts';
import { run, type Report } from './run.ts';

const EXIT_FOUND = 1;
const EXIT_USAGE = 2;

const progress = (line: string): void => void process.stderr.write(`chaos: ${line}\n`);

try {
  const argv = process.argv.slice(2);
  if (isStorm(argv)) await stormMain(argv, progress);
  else {
    const options = parseOptions(argv);
    if (options !== undefined) await main(options);
  }
  // Nothing that may be left of clients or processes is worth waiting for.
  process.exit();
} catch (error) {
  process.stderr.write(
    `chaos: ${error instanceof UsageError || error instanceof EngineUnavailable ? error.message : String((error as Error)?.stack)}\n`,
  );
  process.exit(error instanceof UsageError ? EXIT_USAGE : EXIT_FOUND);
}

async function main(options: Options): Promise<void> {
  if (options.check !== undefined) {
    const rounds = readHistory(options.check).map(toEvidence);
    const faults = [
      ...rounds.flatMap(checkRound),
      ...(await Promise.all(rounds.map(porcupineFaults))).flat(),
    ];
    return print(options.json ? JSON.stringify({ faults }) : inWords(faults), faults);
  }
  if (options.isInjected) {
    const results = await runInjected(options, progress);
    const missed = results
      .filter(({ caughtIn }) => caughtIn === undefined)
      .map(({ bug }) => `${bug} was not caught`);
    const lines = results.map(
      ({ bug, caughtIn, fault }) =>
        `${bug}: ${caughtIn === undefined ? 'NOT caught' : `run ${caughtIn}, ${fault}`}`,
    );
    return print(options.json ? JSON.stringify({ results }) : lines.join('\n'), missed);
  }
  const report = await run(options, progress);
  await print(options.json ? JSON.stringify(report) : reportInWords(report), report.faults);
}

async function print(text: string, faults: readonly string[]): Promise<void> {
  await new Promise<void>((resolve) => process.stdout.write(`${text}\n`, () => resolve()));
  process.exitCode = faults.length === 0 ? 0 : EXIT_FOUND;
}

function inWords(faults: readonly string[]): string {
  return [...faults, `${faults.length} faults found`].join('\n');
}

function reportInWords(report: Report): string {
  const {
    faults,
    seed,
    rounds,
    bankRounds,
    seconds,
    operations,
    outcomes,
    transfers,
    injected,
    alarms,
  } = report;
  return [
    ...faults,
    `seed ${seed}, ${rounds} rounds (${bankRounds} of the bank), ${seconds} s; operations: ${inCounts(operations)}`,
    `outcomes: ${inCounts(outcomes)}`,
    `transfers: ${inCounts(transfers)}`,
    `injected: ${inCounts(injected)}`,
    `alarms: ${inCounts(alarms)}`,
    `${faults.length} faults found`,
  ].join('\n');
}

function inCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}
