/** `npm run docs` and `npm run docs:build`: the documentation as a site. */
import { existsSync } from 'node:fs';
import { cac } from 'cac';
import { explainPort } from '../demo/port-taken.ts';
import { parseFlags, readInteger } from '../demo/shared/flags.ts';
import { waitUntilClosing } from '../demo/wait-for-signal.ts';
import { UsageError } from '../engines/usage-error.ts';
import { buildSite } from './build.ts';
import { checkSite } from './check.ts';
import { OUTPUT } from './folders.ts';
import { serveSite } from './static-files.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const DEFAULT_PORT = 7480;
const MAX_PORT = 65_535;

interface Options {
  readonly build: boolean;
  readonly check: boolean;
  readonly port: number;
}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options !== undefined) await run(options);
} catch (error) {
  console.error(`docs: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
}
// The bundler of VitePress keeps a process alive.
if (process.exitCode !== undefined) process.exit();

async function run({ build, check, port }: Options): Promise<void> {
  if (build || !existsSync(OUTPUT)) await buildSite((text) => console.error(`docs: ${text}`));
  if (build) return console.log(OUTPUT);
  if (check) return await printCheck();
  const { server, url } = await serveSite(OUTPUT, port).catch((error: unknown) => {
    throw explainPort(error, port, '--port N');
  });
  console.log(`The documentation is open: ${url}`);
  console.log('After a change: npm run docs:build. Ctrl-C closes it.');
  await waitUntilClosing();
  server.close();
  server.closeAllConnections();
}

async function printCheck(): Promise<void> {
  const { faults, pages } = await checkSite(OUTPUT, (text) => console.error(`docs: ${text}`));
  for (const fault of faults) console.error(`docs: ${fault}`);
  console.log(`${pages} pages opened, ${faults.length} faults`);
  if (faults.length > 0) process.exitCode = EXIT_FAILED;
}

function parseOptions(argv: readonly string[]): Options | undefined {
  const cli = cac('npm run docs --');
  cli
    .command(
      '[...none]',
      'Serves the documentation as a site, and builds it first if it has not been built',
    )
    .option('--build', 'Build it into build/site/public, and end')
    .option(
      '--check',
      'Open the pages in a browser, run their code, and report faults of output, links, scripts and accessibility',
    )
    .option('--port <n>', 'The port (0: any free one)', { default: DEFAULT_PORT });
  const flags = parseFlags(cli, argv);
  if (flags === undefined) return undefined;
  return {
    build: flags['build'] === true,
    check: flags['check'] === true,
    port: readInteger(flags, 'port', { min: 0, max: MAX_PORT }),
  };
}
