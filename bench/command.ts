/**
 * The command line of benchmarks: it selects one with its options, and determines the exit code.
 */
import { cac } from 'cac';
import { EngineUnavailable } from '../engines/engine.ts';
import { UsageError } from '../engines/usage-error.ts';
import { isInterrupted } from '../engines/when-interrupted.ts';
import type { Bench, Choice } from './harness/bench.ts';
import { runBench } from './run-bench.ts';

/**
 * Runs the benchmark that the command line names. The exit code is 0, or 1 if a floor is missed or
 * the benchmark cannot run, or 2 if the command line is invalid.
 */
export async function runCommand(benches: readonly Bench[]): Promise<void> {
  const cli = cac('npm run bench --');
  cli
    .command('[name]', benches.map(({ name, about }) => `${name}: ${about}`).join('; '))
    .option('--json', 'Print one JSON object on stdout')
    .option('--quick', 'Fewer and shorter rounds; writes no files')
    .option('--binding <name>', 'The store to measure, where a benchmark has several')
    .option(
      '--way <n>',
      'Cassandra: 1 two reads, 2 a gateway, 3 a coordinator with preliminary views (default: 3)',
    )
    .option('--history <file>', 'Write the history that the claims are computed from')
    .option('--connections <n>', 'How many connections the crowd has (200 unless given)')
    .option('--beside <dir>', 'Another checkout whose site is measured in the same rounds');
  cli.help();
  const { args, options } = cli.parse(process.argv, { run: false });
  if (options['help'] === true) return;
  const unknown = createUnreadObject(args, options);
  if (unknown === undefined)
    process.exitCode = await runNamed(benches, args[0], options).catch(toExitCode);
  else {
    console.error(unknown);
    process.exitCode = 2;
  }
}

const CHOICES = [
  'binding',
  'way',
  'history',
  'connections',
  'beside',
] as const satisfies readonly Choice[];
const NAMES = ['json', 'quick', ...CHOICES];

/**
 * Returns a message about unknown arguments. With a misspelled `--quick`, the user would wait for a
 * full run, which replaces results.
 */
function createUnreadObject(
  [, ...others]: readonly string[],
  options: Options,
): string | undefined {
  if (others.length > 0)
    return `one benchmark at a time, not also ${others.map((name) => `"${name}"`).join(', ')}`;
  const { '--': remaining = [], ...named } = options;
  const [unknown] = [
    ...Object.keys(named).filter((name) => !NAMES.includes(name)),
    ...(remaining as readonly string[]),
  ];
  if (unknown === undefined) return undefined;
  return `no option "${unknown}": there are ${NAMES.map((name) => `--${name}`).join(', ')}`;
}

/**
 * Prints a problem that the user can fix without a stack, and others with it, without further
 * properties.
 */
function toExitCode(error: unknown): number {
  // The process ends by itself once no engine is left.
  if (isInterrupted()) return 1;
  const isUsage = error instanceof UsageError;
  if (isUsage || error instanceof EngineUnavailable) {
    console.error(error.message);
    return isUsage ? 2 : 1;
  }
  console.error(error instanceof Error ? error.stack : error);
  // Exit at once, because it is unknown what is still open.
  process.exit(1);
}

type Options = Readonly<Record<string, unknown>>;

async function runNamed(
  benches: readonly Bench[],
  name: string | undefined,
  options: Options,
): Promise<number> {
  const bench = benches.find((item) => item.name === name);
  if (bench === undefined) {
    const names = benches.map((item) => item.name).join(', ');
    console.error(
      name === undefined
        ? `name a benchmark: ${names}`
        : `no benchmark "${name}": there are ${names}`,
    );
    return 2;
  }
  const { takes = [] } = bench;
  const ignored = CHOICES.find(
    (choice) => options[choice] !== undefined && !takes.includes(choice),
  );
  if (ignored !== undefined) {
    const others =
      takes.length === 0
        ? 'it has none of its own'
        : `it has ${takes.map((item) => `--${item}`).join(', ')}`;
    console.error(`${bench.name} does not go by --${ignored}: ${others}`);
    return 2;
  }
  return runBench(bench, {
    quick: options['quick'] === true,
    json: options['json'] === true,
    binding: options['binding'] as string | undefined,
    way: options['way'] as number | undefined,
    history: options['history'] as string | undefined,
    connections: options['connections'] as number | undefined,
    beside: options['beside'] as string | undefined,
  });
}
