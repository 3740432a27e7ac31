#!/usr/bin/env node
/** The `correctables` command. */
import { cac } from 'cac';
import { CorrectableError, isCorrectableError } from '../correctable/errors.ts';
import { inspectCommand } from './inspect.ts';
import { labelCommand } from './label.ts';
import { typedOptions, type Raw } from './options.ts';
import { isOwnThread, runInOwnThread } from './own-thread.ts';
import { packageVersion } from './package-version.ts';
import { DATA_DIR, serveCommand } from './serve.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Commands about one thing that is named. */
const INSPECT = { takes: 'folder', run: inspectCommand };
const LABEL = { takes: 'module', run: labelCommand };

const cli = cac('correctables');
const serve = cli
  .command('serve', 'Serve a service from several sites in this process, over websockets')
  .option('--service <module>', 'The service: a module that exports `service` (or a default) made by defineService')
  .option('--sites <names>', 'The sites, separated by commas', { default: 'irl,frk,vrg' })
  .option('--red-leader <site>', 'The site that orders red operations (default: the first)')
  .option('--attempts-max <count>', 'Executions of a red update that others keep overtaking, before CONFLICT', {
    default: 10,
  })
  .option('--wan <preset>', 'Delays between the sites: none, paper (for irl, frk, vrg), or pairs as irl-frk=20,…', {
    default: 'none',
  })
  .option('--data <dir>', `Folder for what must not be lost, made if there is none (default: ${DATA_DIR})`)
  .option('--ephemeral', 'Keep everything in memory: it is gone with the process')
  .option('--host <address>', 'Address to listen on', { default: '127.0.0.1' })
  .option('--port <n>', 'Port to listen on; 0 for any free one', { default: 7420 })
  .option('--origins <list>', 'Origins of web pages that may connect, separated by commas')
  .option(
    '--auth <module>',
    'Who may connect and do what: exports `authenticate`, and `authorise` and `limits` if you like',
  )
  .option('--auth-keys <keys>', 'Let in who has a signed token (JWT): a file with a JWK set, or its https address')
  .option('--auth-issuer <name>', 'Who must have made the token (`iss`)')
  .option('--auth-audience <name>', 'For whom it must be (`aud`)')
  .option('--limits <pairs>', 'Bounds of each site, as repliesBytesTotalMax=512MiB,connectionsMax=1000; none for none')
  .option('--allow-unauthenticated', 'Listen also where others can reach it, although everybody is let in')
  .option('--idle-poll-us <us>', 'Stay awake so long after an answer: shorter round trips for processor time', {
    default: 0,
  })
  .option(
    '--check-invariants <when>',
    'Alarms where rows break what the service says of them: on or off (default: on unless NODE_ENV is production)',
  )
  .option('--force', 'Serve a service though a shadow operation of it is declared blue and must not be')
  .option('--log-level <level>', 'debug, info, warn, error or silent', { default: 'info' })
  .option('--json', 'Print what is laid open as one JSON line: addresses, who may connect, data, HTTP')
  .example('correctables serve --service shop.js --sites irl,frk,vrg --red-leader irl --wan paper');
const inspect = cli
  .command('inspect <dataDir>', 'Say what is in a data folder, and what of it is lost or damaged; changes nothing')
  .option('--json', 'Print it as one JSON line')
  .example('correctables inspect correctables-data');
const label = cli
  .command('label <service>', 'Say which shadow operations of a service may be blue, with what two sites can break')
  .option('--runs <count>', 'How many runs', { default: 10_000 })
  .option('--seed <n>', 'Seed of the first run; the others follow', { default: 1 })
  .option('--json', 'Print it as one JSON line')
  .example('correctables label shop.js');
cli.option('-v, --version', 'Print the version');
cli.help();

try {
  const { options } = cli.parse(process.argv, { run: false });
  const words = [...cli.args, ...(options['--'] as readonly string[])];
  if (options['version'] === true) console.log(packageVersion());
  else if (options['help'] !== true) await run(cli.matchedCommandName, options, words);
} catch (error) {
  console.error(`correctables: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = isCorrectableError(error, 'INVALID_ARGUMENT') ? EXIT_USAGE : EXIT_FAILED;
}

async function run(command: string | undefined, options: Raw, words: readonly string[]): Promise<void> {
  const [word] = words;
  if (command === undefined) {
    if (word !== undefined) console.error(`correctables: no command "${word}"`);
    cli.outputHelp();
    process.exitCode = EXIT_USAGE;
    return;
  }
  const { options: declared } = { inspect, label, serve }[command as 'inspect' | 'label' | 'serve'];
  const typed = typedOptions(options, new Set(declared.map((option) => option.name)), process.argv);
  if (command === 'inspect' || command === 'label') {
    const { takes, run: runIt } = { inspect: INSPECT, label: LABEL }[command];
    if (words.length <= 1) return runIt(word, typed);
    throw new CorrectableError(
      'INVALID_ARGUMENT',
      `${command} takes one ${takes}, not "${words.join(' ')}"; see --help`,
    );
  }
  if (word !== undefined) {
    throw new CorrectableError('INVALID_ARGUMENT', `${command} takes flags only, not "${word}"; see --help`);
  }
  await (isOwnThread ? serveCommand(typed) : runInOwnThread(new URL(import.meta.url)));
}
