/** `npm run demo:tickets`: the page, or one sale and its baseline without it. */
import { headlessSale } from './headless.ts';
import { parseOptions, type Options } from './options.ts';
import { UsageError } from '../../engines/usage-error.ts';
import { startShop } from './server.ts';
import { explainPort } from '../port-taken.ts';
import { waitUntilClosing } from '../wait-for-signal.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

try {
  const options = parseOptions(process.argv.slice(2));
  if (options !== undefined) await (options.headless ? sell(options) : open(options));
} catch (error) {
  console.error(`demo:tickets: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
}

async function sell(options: Options): Promise<void> {
  const figures = await headlessSale(options, (text) => process.stderr.write(`${text}\n`));
  console.log(options.json ? JSON.stringify(figures) : JSON.stringify(figures, null, 2));
}

async function open({ port, wan, stock }: Options): Promise<void> {
  const shop = await startShop({ port, wan, stock }).catch((error: unknown) => {
    throw explainPort(error, port, '--port N');
  });
  console.log(`The ticket shop is open: ${shop.url}`);
  console.log(
    'Three sites (ireland, frankfurt, virginia) with the delays of the Correctables paper between them. Ctrl-C closes it.',
  );
  await waitUntilClosing();
  await shop.close();
}
