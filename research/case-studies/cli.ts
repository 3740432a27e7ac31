/** `npm run case-study`: a case study with its page, or for a while without it. */
import { UsageError } from '../../engines/usage-error.ts';
import { explainPort } from '../../demo/port-taken.ts';
import { waitForSignal, waitUntilClosing } from '../../demo/wait-for-signal.ts';
import { mixNamed, parseOptions, type Options } from './options.ts';
import { startStudyPage } from './page-server.ts';
import { runStudy, type TieredRunOptions } from './run.ts';
import { studyOf } from './studies.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const progress = (line: string): void => void process.stderr.write(`${line}\n`);

try {
  const options = parseOptions(process.argv.slice(2));
  if (options !== undefined) {
    const study = await studyOf(options.study);
    const run = { ...options, study, mix: mixNamed(options.mix, study.mixes) };
    await (options.headless ? work(run, options) : open(run, options));
  }
} catch (error) {
  console.error(`case-study: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
}

async function work(run: TieredRunOptions, { json }: Options): Promise<void> {
  const interrupted = new AbortController();
  // What was done until then is looked at, too.
  void waitForSignal().then(() => interrupted.abort());
  const report = await runStudy({ ...run, signal: interrupted.signal }, progress);
  console.log(JSON.stringify(report, null, json ? undefined : 2));
  if (report.sound) return;
  for (const line of brokenIn(report)) progress(line);
  process.exitCode = EXIT_FAILED;
}

function brokenIn({
  alarms,
  audits,
  agree,
}: Awaited<ReturnType<typeof runStudy>>): readonly string[] {
  const atSites = Object.entries(audits).flatMap(([site, { broken }]) =>
    broken.map((line) => `${site}: ${line}`),
  );
  return [...alarms, ...atSites, ...(agree ? [] : ['the sites do not have the same data'])];
}

async function open(run: TieredRunOptions, { port }: Options): Promise<void> {
  const page = await startStudyPage({ ...run, port }, progress).catch((error: unknown) => {
    throw explainPort(error, port, '--port N');
  });
  console.log(`${run.study.name}, ${run.study.about}: ${page.url}`);
  console.log(
    `${run.sites} sites with the delays of the RedBlue paper, ${run.users} users at each. Ctrl-C closes it.`,
  );
  await waitUntilClosing();
  await page.close();
}
