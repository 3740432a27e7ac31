/**
 * `npm run demo`: a start page with all demos, until interrupted; `npm run demo -- NAME`: one of
 * them alone.
 */
import { UsageError } from '../engines/usage-error.ts';
import { explainPort } from './port-taken.ts';
import { demos } from './launcher/demos.ts';
import { parsePort } from './launcher/options.ts';
import { startLauncher, type RunningLauncher } from './launcher/server.ts';
import { waitUntilClosing } from './wait-for-signal.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** The demos that are separate programs, by name. They read the arguments after the name. */
const PROGRAMS: ReadonlyMap<string, () => Promise<unknown>> = new Map([
  ['ads', () => import('./ad-server/cli.ts')],
  ['bank', () => import('./bank/cli.ts')],
  ['cluster', () => import('./cluster/cli.ts')],
  ['kill', () => import('./kill/cli.ts')],
  ['news', () => import('./news/cli.ts')],
  ['social', () => import('./social/cli.ts')],
  ['tickets', () => import('./tickets/cli.ts')],
  ['twissandra', () => import('./twissandra/cli.ts')],
]);

const program = PROGRAMS.get(process.argv[2] ?? '');
if (program === undefined) await startPage();
else {
  process.argv.splice(2, 1);
  await program();
}

async function startPage(): Promise<void> {
  try {
    const port = parsePort(process.argv.slice(2), process.env);
    if (port !== undefined) await open(port);
  } catch (error) {
    console.error(`demo: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
  }
}

async function open(port: number): Promise<void> {
  const launcher = await start(port);
  console.log(`The demos are ready: ${launcher.url}`);
  console.log('Ctrl-C closes them.');
  await waitUntilClosing();
  await launcher.close();
}

async function start(port: number): Promise<RunningLauncher> {
  try {
    return await startLauncher({ port, demos });
  } catch (error) {
    throw explainPort(error, port, '--port N or PORT=N');
  }
}
