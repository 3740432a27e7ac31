/**
 * `npm run histories -- <engine> [--minutes N] [--seed S] [--json] [--history FILE]`: a binding on
 * a real engine, under load and through faults. Checkers that know only the history and the final
 * state judge the reported views. Exits with 0 if nothing was found and all servers live. Progress
 * goes to stderr.
 */
import { UsageError } from '../../engines/usage-error.ts';
import { EngineUnavailable } from '../../engines/engine.ts';
import { cassandraHistories } from './cassandra/index.ts';
import type { Histories, HistoriesReport } from './histories.ts';
import { History } from './history.ts';
import { parseOptions, type Options } from './options.ts';
import { zookeeperHistories } from './zookeeper/index.ts';

const ALL: readonly Histories[] = [cassandraHistories, zookeeperHistories];

const EXIT_FOUND = 1;
const EXIT_USAGE = 2;
const MINUTE_MS = 60_000;

interface Report extends HistoriesReport {
  readonly engine: string;
  readonly seed: number;
  readonly seconds: number;
}

try {
  const options = parseOptions(
    process.argv.slice(2),
    ALL.map(({ name }) => name),
  );
  if (options !== undefined) await main(options);
  // Nothing that may be left of clients or engines is worth waiting for.
  process.exit();
} catch (error) {
  const isExplained = error instanceof UsageError || error instanceof EngineUnavailable;
  process.stderr.write(
    `histories: ${isExplained ? error.message : String((error as Error)?.stack)}\n`,
  );
  process.exit(error instanceof UsageError ? EXIT_USAGE : EXIT_FOUND);
}

async function main(options: Options): Promise<void> {
  const { engine, seed, minutes } = options;
  const histories = ALL.find(({ name }) => name === engine) as Histories;
  const progress = (line: string): void => void process.stderr.write(`${engine}: ${line}\n`);
  using history = new History(options.history);
  progress(`seed ${seed}`);
  const fromMs = performance.now();
  const found = await histories.run({
    untilMs: fromMs + minutes * MINUTE_MS,
    seed,
    history,
    progress,
  });
  const report: Report = {
    engine,
    seed,
    seconds: Math.round((performance.now() - fromMs) / 1000),
    ...found,
  };
  const text = options.json ? `${JSON.stringify(report)}\n` : inWords(report);
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
  process.exitCode = report.faults.length === 0 && report.serversAlive ? 0 : EXIT_FOUND;
}

function inWords({
  seed,
  seconds,
  operations,
  outcomes,
  injected,
  faults,
  serversAlive,
}: Report): string {
  return [
    ...faults,
    `seed ${seed}, ${seconds} s; operations: ${inCounts(operations)}`,
    `outcomes: ${inCounts(outcomes)}`,
    `injected: ${inCounts(injected)}`,
    `${faults.length} faults; ${serversAlive ? 'all servers live' : 'NOT all servers live'}`,
    '',
  ].join('\n');
}

function inCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}
