/** `npm run demo`: a start page with all demos, until interrupted. */
import { explainPort } from './port-taken.ts';
import { demos } from './start/demos.ts';
import { parsePort } from './start/options.ts';
import { UsageError } from '../engines/usage-error.ts';
import { startLauncher, type RunningLauncher } from './start/server.ts';
import { untilInterrupted } from './until-interrupted.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

try {
  const port = parsePort(process.argv.slice(2), process.env);
  if (port !== undefined) await open(port);
} catch (error) {
  console.error(`demo: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
}

async function open(port: number): Promise<void> {
  const launcher = await start(port);
  console.log(`The demos are ready: ${launcher.url}`);
  console.log('Ctrl-C closes them.');
  await untilInterrupted();
  await launcher.close();
}

async function start(port: number): Promise<RunningLauncher> {
  try {
    return await startLauncher({ port, demos });
  } catch (error) {
    throw explainPort(error, port, '--port N or PORT=N');
  }
}
