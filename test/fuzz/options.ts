/** The command line of the fuzzer, parsed and checked. */
import { cac } from 'cac';
import { parseFlags } from '../../demo/shared/flags.ts';
import { UsageError } from '../../engines/usage-error.ts';

export interface Options {
  readonly minutes: number;
  readonly seed: number;
  /** Ends the storm as soon as so many frames were sent. */
  readonly frames: number;
  readonly json: boolean;
}

const SEED_MAX = 2 ** 31 - 1;
const MINUTES_MAX = 24 * 60;

/**
 * Parses the arguments after the program's name.
 *
 * @returns the options, or `undefined` when help was asked for and has been printed
 * @throws UsageError naming the flag at fault
 */
export function parseOptions(argv: readonly string[]): Options | undefined {
  const cli = cac('npm run fuzz --');
  cli
    .command('[...none]', 'Storms gateways with hostile clients')
    .option('--minutes <n>', 'How long', { default: 1 })
    .option('--frames <n>', 'End as soon as so many frames were sent')
    .option(
      '--seed <n>',
      'What everything is drawn from: begins with what a finding with this seed shows',
    )
    .option('--json', 'Print one JSON object on stdout');
  const options = parseFlags(cli, argv);
  if (options === undefined) return undefined;
  return {
    minutes:
      numberOf(options, 'minutes', { min: 0.01, max: MINUTES_MAX, what: 'a number of minutes' }) ??
      1,
    frames:
      numberOf(options, 'frames', { min: 1, max: 1e12, what: 'an integer', whole: true }) ??
      Infinity,
    seed:
      numberOf(options, 'seed', { min: 0, max: SEED_MAX, what: 'an integer', whole: true }) ??
      Math.floor(Math.random() * SEED_MAX),
    json: options['json'] === true,
  };
}

/** What a flag takes. */
interface Range {
  readonly min: number;
  readonly max: number;
  readonly what: string;
  readonly whole?: boolean;
}

/** The number that was given for a flag, if one was. */
export function numberOf(
  options: Readonly<Record<string, unknown>>,
  name: string,
  range: Range,
): number | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  const { min, max, what: description, whole = false } = range;
  if (
    typeof value === 'number' &&
    value >= min &&
    value <= max &&
    (!whole || Number.isInteger(value))
  )
    return value;
  throw new UsageError(
    `--${name} takes ${description} from ${min} to ${max}, not "${String(value)}"`,
  );
}
