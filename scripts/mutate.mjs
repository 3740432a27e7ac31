/**
 * `npm run mutate`: breaks the source, and sees whether the tests notice. With `--listed` the lines that
 * `scripts/mutants/listed.mjs` names; else lines that it finds itself. Nothing is written in this tree.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

const HELP = `npm run mutate -- --listed [--only TEXT] [--jobs N] [--json]
npm run mutate -- [PATH…] [options]

  --listed         break the lines that scripts/mutants/listed.mjs names; exit 0 iff each is noticed
  --only TEXT      those alone whose name, rule or file contains this

  PATH…            break what stands in these files and folders of src, as far as it still compiles: conditions,
                   boundaries, statements, numbers, what is returned; without any, those whose tests have an aim.
                   Exit 0 iff every folder reaches its aim, 1 if one does not, 2 where a path has no source or nothing can be
                   broken, 130 when interrupted: then only what is decided is scored
  --sample N       N of these mutants only, drawn by
  --seed S         this number (1)
  --since COMMIT   only of files that have changed since
  --project NAME   ask the tests of this project, instead of unit, contract and property; may be given again
  --tests TEXT     ask only the test files whose path contains this
  --ask N          a mutant that the N nearest test files miss survives (40)
  --idle N         what is left survives after N test files in a row without news: none notices a mutant or is the first
                   to meet one (15)
  --keep FILE      write down in FILE what the compiler and each test file say of each mutant, and do not ask again what
                   stands there, as long as nothing that they load has changed: for who goes on after an interruption,
                   or with a new test

  --jobs N         N test processes at the same time (${availableParallelism()}, as many as this machine has processors)
  --json           print one JSON object
  --help           print this`;

let given;
try {
  given = parseArgs({
    allowPositionals: true,
    options: {
      listed: { type: 'boolean', default: false },
      only: { type: 'string' },
      sample: { type: 'string' },
      seed: { type: 'string', default: '1' },
      since: { type: 'string' },
      project: { type: 'string', multiple: true, default: [] },
      tests: { type: 'string', default: '' },
      ask: { type: 'string', default: '40' },
      idle: { type: 'string', default: '15' },
      keep: { type: 'string' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
} catch (error) {
  refuse(error.message);
}
const { values, positionals: paths } = given;

if (values.help) {
  console.log(HELP);
} else if (values.listed) {
  if (paths.length > 0) refuse('--listed takes no path: use --only TEXT');
  if (values.keep !== undefined) refuse('--keep is for generated mutants');
  const { runListed } = await import('./mutants/run-listed.mjs');
  process.exitCode = await runListed({ only: values.only ?? '', jobs: count('jobs', values.jobs), json: values.json });
} else {
  if (values.only !== undefined) refuse('--only is for --listed: name paths instead');
  const { runGenerated, UsageError } = await import('./mutation/generated.mjs');
  const options = {
    paths,
    sample: values.sample === undefined ? undefined : count('sample', values.sample),
    seed: count('seed', values.seed),
    since: values.since,
    projects: values.project,
    tests: values.tests,
    askAtMost: count('ask', values.ask),
    idleAfter: count('idle', values.idle),
    jobs: count('jobs', values.jobs),
    keep: values.keep,
    json: values.json,
  };
  try {
    process.exitCode = await runGenerated(options);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    refuse(error.message);
  }
}

function count(name, text) {
  if (!/^[1-9]\d*$/.test(text)) refuse(`--${name} takes a positive whole number, not '${text}'`);
  return Number(text);
}

function refuse(why) {
  console.error(`${why}\n\n${HELP}`);
  process.exit(2);
}
