/** `npm run trace -- WALK`: which functions one warm operation runs, in their order. */
import { fork } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { useRunningPostgres } from '../../engines/postgres/engine.ts';
import { findUnusedFolders } from './fold.ts';
import { instrument } from './instrument.ts';
import type { Trace } from './recorder.ts';
import { countTrace, formatCounts, formatLookups, formatWay } from './report.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const walks = {
  'blue-write': 'One site with a data directory, from the frame of a client to the answer',
  'blue-three-sites':
    'Three sites in one process, from the frame until all of them have the update',
  'red-write': 'Three sites in one process, at a site that does not lead the red order',
  'memory-read': 'A read of the memory binding, with its views',
  'react-read': 'A component that reads a new key of the memory binding',
  'postgres-read': 'A read with two views, of a replica and of the primary; starts PostgreSQL',
};
type WalkName = keyof typeof walks;

const names = Object.entries(walks).map(([name, about]) => `  ${name.padEnd(18)}${about}`);
const HELP = `npm run trace -- <walk> [options]

Runs one operation that was run before, and prints each function of src that it runs: a way to
read the code. Functions that run in another turn of the event loop start a new tree.

Walks:
${names.join('\n')}

Options:
  --counts          print the counts alone
  --fold <paths>    show calls within each directory as one line, and count them as one,
                    such as --fold protocol/codec,collections
  --lookups         print where the name of the operation is looked up
  --json            print the counts as JSON
  --help            print this`;

// A reader may close the output early, as `head` does.
process.stdout.on('error', () => process.exit());

const { values, positionals } = parseArguments();
const [name] = positionals;
if (values.help === true) console.log(HELP);
else if (name === undefined || !(name in walks))
  fail(`name a walk: ${Object.keys(walks).join(', ')}`);
else await printWalk(name as WalkName);

async function printWalk(walk: WalkName): Promise<void> {
  const { code, functions } = await instrument(
    root,
    `import { runWalk } from './scripts/trace/run-walk.ts';
     import { startWalk } from './scripts/trace/walks/${walk}.ts';
     await runWalk(startWalk);`,
  );
  const trace = await recordWalk(walk, code);
  const folded = values.fold?.split(',') ?? [];
  const [unused] = findUnusedFolders(trace.steps, functions, folded);
  if (unused !== undefined) fail(`--fold: no function of this walk is in "${unused}"`);
  const counts = countTrace(trace, functions, folded);
  if (values.json === true) return console.log(JSON.stringify({ walk, ...counts }));
  if (values.lookups === true) console.log(`${formatLookups(trace, functions).join('\n')}\n`);
  else if (values.counts !== true)
    console.log(`${formatWay(trace, functions, folded).join('\n')}\n`);
  console.log(formatCounts(counts));
}

async function recordWalk(walk: WalkName, code: string): Promise<Trace> {
  const folder = join(root, '.cache/trace');
  await mkdir(folder, { recursive: true });
  const program = join(folder, `${walk}.mjs`);
  await writeFile(program, code);
  const env = { ...process.env, TRACE_CLIENT: join(root, 'scripts/trace/walks/client.ts') };
  if (walk !== 'postgres-read') return runProgram(program, env);
  const { servers, stop } = await useRunningPostgres({}, (text) => console.error(text));
  const [primary, replica] = [servers.connection('primary'), servers.connection('replica-1')];
  const TRACE_POSTGRES = JSON.stringify({ primary, replica });
  try {
    return await runProgram(program, { ...env, TRACE_POSTGRES });
  } finally {
    await stop();
  }
}

function runProgram(program: string, env: NodeJS.ProcessEnv): Promise<Trace> {
  const child = fork(program, { env });
  return new Promise((resolve, reject) => {
    child.once('message', (trace) => resolve(trace as Trace));
    child.once('exit', (exitCode) => reject(new Error(`the walk ended with ${String(exitCode)}`)));
  });
}

function parseArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        counts: { type: 'boolean' },
        fold: { type: 'string' },
        lookups: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    return fail((error as Error).message);
  }
}

function fail(message: string): never {
  console.error(`error: ${message}. See npm run trace -- --help`);
  process.exit(2);
}
