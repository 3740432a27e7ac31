/** The command line of the launcher, parsed and checked. */
import { cac } from 'cac';
import { UsageError } from '../../engines/usage-error.ts';

const PORT_DEFAULT = 7400;
const PORT_MAX = 65_535;

/**
 * Reads the port of the start page: `--port`, otherwise the variable `PORT`, otherwise 7400.
 *
 * @returns the port, or `undefined` when help was asked for and has been printed
 * @throws UsageError naming the flag or variable at fault
 */
export function parsePort(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
): number | undefined {
  const cli = cac('npm run demo --');
  cli
    .command(
      '[...none]',
      'Opens a start page with all demos; ads, bank, case, cluster, kill, news, social, tickets or twissandra: that one by itself',
    )
    .option(
      '--port <n>',
      `The port of the start page (0: any free one); or PORT. Default: ${PORT_DEFAULT}`,
    );
  cli.help();
  const { args, options } = cli.parse(['node', 'demo', ...argv], { run: false });
  if (options['help'] === true) return undefined;
  const [unexpected] = [
    ...args,
    ...Object.keys(options).filter((name) => name !== '--' && name !== 'port'),
  ];
  if (unexpected !== undefined) throw new UsageError(`unexpected "${unexpected}"; see --help`);
  if (options['port'] !== undefined) return checked('--port', options['port']);
  const fromEnvironment = environment['PORT'];
  return fromEnvironment === undefined || fromEnvironment === ''
    ? PORT_DEFAULT
    : checked('PORT', fromEnvironment);
}

function checked(name: string, value: unknown): number {
  const port = /^\d+$/.test(String(value)) ? Number(value) : Number.NaN;
  if (port <= PORT_MAX) return port;
  throw new UsageError(`${name} takes an integer from 0 to ${PORT_MAX}, not "${String(value)}"`);
}
