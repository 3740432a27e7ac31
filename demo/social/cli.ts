/** `npm run demo:social`: the page of the social network, or its figures without the page. */
import { UsageError } from '../../engines/usage-error.ts';
import { explainPort } from '../port-taken.ts';
import { waitForSignal } from '../wait-for-signal.ts';
import { runUsers } from './headless.ts';
import { parseOptions, type Options } from './options.ts';
import { formatReport, isWhole } from './report.ts';
import { startNetwork } from './server.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

try {
  const options = parseOptions(process.argv.slice(2));
  if (options !== undefined) await (options.headless ? work(options) : open(options));
} catch (error) {
  console.error(`demo:social: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
}

async function work(options: Options): Promise<void> {
  const figures = await runUsers(options, (text) => process.stderr.write(`${text}\n`));
  console.log(options.json ? JSON.stringify(figures) : formatReport(figures));
  if (!isWhole(figures)) process.exitCode = EXIT_FAILED;
}

async function open({ port }: Options): Promise<void> {
  const network = await startNetwork({ port }).catch((error: unknown) => {
    throw explainPort(error, port, '--port N');
  });
  console.log(`The social network is open: ${network.url}`);
  console.log(
    'Two regions, each with a red log: Ireland orders Europe, Virginia orders America. Ctrl-C closes it.',
  );
  await waitForSignal();
  await network.close();
}
