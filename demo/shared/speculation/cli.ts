/** The program of a demo that follows references: a page, or a comparison without a page. */
import { explainPort } from '../../port-taken.ts';
import { waitUntilClosing } from '../../wait-for-signal.ts';
import { parseOptions, type Options, type Program } from '../options.ts';
import { UsageError } from '../../../engines/usage-error.ts';
import { runHeadless, type Deploy } from './headless.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** A page that is being served. */
export interface RunningPage {
  readonly url: string;
  close(): Promise<void>;
}

/** The options that determine what a page shows, and its address. */
export type PageOptions = Pick<Options, 'scale' | 'seed' | 'wan' | 'port'>;

export type StartPage = (options: PageOptions) => Promise<RunningPage>;

export interface Demo extends Program {
  readonly deploy: Deploy;
  readonly startPage: StartPage;
  /** Printed before the address of the page. */
  readonly greeting: string;
}

/** Runs the demo that the arguments after the program's name describe; sets the exit code. */
export async function runDemo(demo: Demo, argv: readonly string[]): Promise<void> {
  try {
    const options = parseOptions(argv, demo);
    if (options !== undefined)
      await (options.headless ? measure(demo, options) : open(demo, options));
  } catch (error) {
    console.error(`${demo.command}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
  }
}

async function measure({ deploy }: Demo, options: Options): Promise<void> {
  const figures = await runHeadless(deploy, options, (text) => process.stderr.write(`${text}\n`));
  console.log(options.json ? JSON.stringify(figures) : JSON.stringify(figures, null, 2));
}

async function open({ startPage, greeting }: Demo, options: Options): Promise<void> {
  const { port, wan } = options;
  const page = await startPage(options).catch((failure: unknown) => {
    throw explainPort(failure, port, '--port N');
  });
  console.log(`${greeting}: ${page.url}`);
  const delays = wan === 'none' ? 'no delays' : 'the delays of the Correctables paper';
  console.log(
    `Three sites (ireland, frankfurt, virginia) with ${delays} between them. Ctrl-C closes it.`,
  );
  await waitUntilClosing();
  await page.close();
}
