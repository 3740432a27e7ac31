/**
 * `npm run mutate`: breaks the source, and sees whether the tests notice. With `--listed` the lines that
 * `scripts/mutants/listed.mjs` names; else lines that it finds itself. Nothing is written in this tree.
 */
import { parseArgs } from 'node:util';

const HELP = `npm run mutate -- --listed [--only TEXT] [--json]
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
  --ask N          a mutant that the N nearest test files miss survives (25)
  --idle N         what is left survives after N test files in a row without news: none notices a mutant or is the first
                   to meet one (15)

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
      ask: { type: 'string', default: '25' },
      idle: { type: 'string', default: '15' },
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
  const { runListed } = await import('./mutants/run-listed.mjs');
  process.exitCode = await runListed({ only: values.only ?? '', json: values.json });
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
