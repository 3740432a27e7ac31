/**
 * `npm run demo:bank`: the page with two tellers, their work without it, or the figures of the
 * RedBlue paper.
 */
import { UsageError } from '../../engines/usage-error.ts';
import { explainPort } from '../port-taken.ts';
import { waitUntilClosing } from '../wait-for-signal.ts';
import { printFigures } from './figures.ts';
import { runTellers } from './headless.ts';
import { parseOptions, type Options } from './options.ts';
import { startBank } from './server.ts';
import { describeRun } from './summary.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

try {
  const options = parseOptions(process.argv.slice(2));
  if (options !== undefined) await run(options);
} catch (error) {
  console.error(`demo:bank: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
}
// Exit explicitly, because everything is closed. Otherwise Node 20 under full load sometimes waits
// for ever for a lost request to a site.
process.stdout.write('', () => process.exit());

function run(options: Options): Promise<void> {
  if (options.figures) return printFigures();
  return options.headless ? work(options) : open(options);
}

async function work(options: Options): Promise<void> {
  const progress = (text: string): void => void process.stderr.write(`${text}\n`);
  const figures = await runTellers(options, progress);
  console.log(JSON.stringify(figures, null, options.json ? undefined : 2));
  progress(describeRun(figures));
  if (!figures.ok) process.exitCode = EXIT_FAILED;
}

async function open({ port, partitions }: Options): Promise<void> {
  const bank = await startBank({ port, partitions }).catch((error: unknown) => {
    throw explainPort(error, port, '--port N');
  });
  console.log(`The bank is open: ${bank.url}`);
  console.log(
    'Tellers in Frankfurt and Virginia, transfers put in order in Ireland. Ctrl-C closes it.',
  );
  await waitUntilClosing();
  await bank.close();
}
