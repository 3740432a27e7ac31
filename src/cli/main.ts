#!/usr/bin/env node
/** The `correctables` command. */
import { readFileSync } from 'node:fs';
import { cac } from 'cac';
import { CorrectableError, isCorrectableError } from '../correctable/errors.ts';
import type { Command } from './command.ts';
import { CLUSTER } from './cluster.ts';
import { INSPECT } from './inspect.ts';
import { LABEL } from './label.ts';
import {
  rejectDots,
  readTypedOptions,
  findVariableFor,
  getVariableNames,
  withEnvironment,
} from './options.ts';
import { isFirstProcess, isWorkerThread, runInWorkerThread } from './worker-thread.ts';
import { waitUntilWritten } from './print.ts';
import { EXIT_CLOSED_DIRECTORY, SERVE } from './serve.ts';
import { SERVICE } from './service.ts';
import { formatLocation } from './format-error.ts';

/**
 * Returns the version in package.json. Its relative path is the same from the source and from the
 * build.
 */
function readPackageVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}

/** A new one is a file with a `Command`, and stands here. */
const COMMANDS: readonly Command[] = [SERVE, INSPECT, LABEL, SERVICE, CLUSTER];

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const cli = cac('correctables');
for (const { name, summary, argument, flags, example } of COMMANDS) {
  const declared = cli.command(
    argument === undefined ? name : `${name} ${argument.typed}`,
    summary,
  );
  for (const [typed, use, defaultValue] of flags)
    declared.option(typed, use, { default: defaultValue });
  declared.example(example);
}
cli.option('-v, --version', 'Print the version');
cli.help((sections) => [...sections, ...createHelpSections(cli.matchedCommandName)]);

try {
  rejectDots(process.argv);
  const { options } = cli.parse(process.argv, { run: false });
  const words = [...cli.args, ...(options['--'] as readonly string[])];
  const command = COMMANDS.find(({ name }) => name === cli.matchedCommandName);
  if (options['version'] === true) console.log(readPackageVersion());
  else if (options['help'] !== true) await run(command, words);
} catch (error) {
  console.error(`error: ${error instanceof Error ? formatCliError(error) : String(error)}`);
  process.exitCode = chooseExitCode(error);
}

/**
 * What the help of a command has beside its flags: its actions, and only those variables that it
 * reads.
 */
function createHelpSections(
  command: string | undefined,
): { readonly title: string; readonly body: string }[] {
  const { actions, flags } = COMMANDS.find(({ name }) => name === command) ?? SERVE;
  const [[typed]] = flags as [Command['flags'][number]];
  const first = typed.replace(/ .*/, '');
  const port = flags.some(([flag]) => flag === '--port <n>') ? ' PORT sets --port.' : '';
  const [variable] = getVariableNames(first.slice('--'.length));
  const environment = `  Set any flag by a variable instead: ${variable} for ${first}.${port}`;
  const list = actions?.map(([name, what]) => `  ${name.padEnd(13)}${what}`).join('\n') ?? '';
  const sections = [{ title: 'Actions', body: list }];
  return [...(list === '' ? [] : sections), { title: 'Environment', body: environment }];
}

function chooseExitCode(error: unknown): number {
  if (isCorrectableError(error, 'INVALID_ARGUMENT')) return EXIT_USAGE;
  return isCorrectableError(error, 'UNAVAILABLE') && error.field === 'rebuild'
    ? EXIT_CLOSED_DIRECTORY
    : EXIT_FAILED;
}

/**
 * Returns the message, with the place that threw if an export of the module did: only this shows
 * the cause.
 */
function formatCliError(error: Error): string {
  const { message, cause } = error;
  if (!isCorrectableError(error, 'INVALID_ARGUMENT')) return message;
  if (cause instanceof Error) return `${message}${formatLocation(cause)}`;
  const variable = findVariableFor(error.field ?? '', process.argv, process.env);
  return variable === undefined
    ? message
    : `${message} (from the environment variable ${variable})`;
}

async function run(command: Command | undefined, words: readonly string[]): Promise<void> {
  if (command === undefined) {
    if (words.length > 0) console.error(`error: unknown command "${words[0]}"`);
    cli.outputHelp();
    process.exitCode = EXIT_USAGE;
    return;
  }
  const { name, argument: word, runsInWorkerThread = false } = command;
  const known = cli.matchedCommand?.options ?? [];
  const takesValue = new Map(known.map((option) => [option.name, option.isBoolean !== true]));
  const typed = readTypedOptions(cli.options, takesValue, process.argv);
  const options = withEnvironment(typed, takesValue, process.argv, process.env);
  const maxWords = word === undefined ? 0 : word.typed.split(' ').length;
  if (words.length > maxWords) {
    const count = maxWords === 1 ? 'one ' : '';
    const takes = word === undefined ? 'flags only' : `${count}${word.names}`;
    throw new CorrectableError(
      'INVALID_ARGUMENT',
      `${name} takes ${takes}, not "${words.join(' ')}"; see --help`,
    );
  }
  // The main thread of a container's first process stays free to handle signals.
  const needsThread = runsInWorkerThread || isFirstProcess;
  if (needsThread && !isWorkerThread) return runInWorkerThread(new URL(import.meta.url));
  try {
    await command.run(options, ...words);
  } finally {
    if (!runsInWorkerThread) exitOnceWritten();
  }
}

/**
 * Exits once output is written: handles that a service module has opened would keep the process
 * alive.
 */
function exitOnceWritten(): void {
  setTimeout(() => void waitUntilWritten('').then(() => process.exit()));
}
