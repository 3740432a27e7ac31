/** `npm run demo:news`: the page of the news reader, or its figures without the page. */
import { UsageError } from '../../engines/usage-error.ts';
import { whenInterrupted } from '../../engines/when-interrupted.ts';
import { explainPort } from '../port-taken.ts';
import { waitUntilClosing } from '../wait-for-signal.ts';
import { formatReport, readHeadless } from './headless.ts';
import { parseOptions, type Options } from './options.ts';
import { startNews } from './server.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

try {
  const options = parseOptions(process.argv.slice(2), process.env);
  if (options !== undefined) await (options.headless ? read(options) : open(options));
} catch (error) {
  console.error(`demo:news: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
}

async function read(options: Options): Promise<void> {
  const figures = await readHeadless(options, (text) => process.stderr.write(`${text}\n`));
  console.log(options.json ? JSON.stringify(figures) : formatReport(figures));
  if (!figures.isInOrder) process.exitCode = EXIT_FAILED;
}

async function open({ port, delays, hasRedis }: Options): Promise<void> {
  if (hasRedis) console.log('Starting a Redis Cluster at each site …');
  // Let an interruption during the start end the process. The servers end with it.
  const ignoreInterrupts = whenInterrupted(() => Promise.resolve());
  const news = await startNews({ port, delays, hasRedis }).catch((error: unknown) => {
    throw explainPort(error, port, '--port N or PORT=N');
  });
  ignoreInterrupts();
  console.log(`The news are ready: ${news.url}`);
  console.log(
    `Sites in Dublin, Oregon and Sydney${hasRedis ? ', comments on a Redis Cluster at each' : ''}. Ctrl-C closes them.`,
  );
  await waitUntilClosing();
  await news.close();
}
