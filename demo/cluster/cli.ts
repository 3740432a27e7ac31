/**
 * `npm run demo:cluster`: three sites as processes with a page to kill, freeze and cut them, or a
 * sale without it.
 */
import { UsageError } from '../../engines/usage-error.ts';
import { explainPort } from '../port-taken.ts';
import { waitForSignal, waitUntilClosing } from '../wait-for-signal.ts';
import { describeSale } from './figures.ts';
import { sellThroughFaults } from './headless.ts';
import { parseOptions, type Options } from './options.ts';
import { startClusterPage } from './page-server.ts';
import { openRedLog } from './red-log.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const progress = (text: string): void => void process.stderr.write(`${text}\n`);

try {
  const options = parseOptions(process.argv.slice(2));
  if (options !== undefined) await (options.headless ? sell(options) : open(options));
} catch (error) {
  console.error(`demo:cluster: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
}
// Exit explicitly, because everything is closed. Otherwise Node 20 under full load sometimes waits
// for ever for a lost request.
process.stdout.write('', () => process.exit());

async function sell(options: Options): Promise<void> {
  const interrupted = new AbortController();
  void waitForSignal().then(() => interrupted.abort());
  const figures = await sellThroughFaults(options, progress, interrupted.signal);
  console.log(JSON.stringify(figures, null, options.json ? undefined : 2));
  progress(describeSale(figures));
  if (!figures.ok) process.exitCode = EXIT_FAILED;
}

async function open({ port, wan, keep, engine }: Options): Promise<void> {
  const closing = waitUntilClosing();
  await using redLog = await openRedLog(engine, wan, progress);
  progress('starting three sites, each a process of its own');
  const page = await startClusterPage({ port, wan, keep, redLog: redLog.at }).catch(
    (error: unknown) => {
      throw explainPort(error, port, '--port N');
    },
  );
  console.log(`The ticket shop is open: ${page.url}`);
  console.log(
    'Kill, freeze or cut off a site on the page, and watch its customers move. Ctrl-C closes it.',
  );
  await closing;
  await page.close();
}
