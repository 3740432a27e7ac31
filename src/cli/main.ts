#!/usr/bin/env node
/** The `correctables` command. */
import { readFileSync } from 'node:fs';
import { CorrectableError, isCorrectableError } from '../correctable/errors.ts';
import type { Command } from './command.ts';
import { COMMANDS } from './commands.ts';
import {
  findVariableFor,
  parseCommandLine,
  splitCommand,
  type CommandLine,
} from './command-line.ts';
import { formatCommandHelp, formatOverview } from './help.ts';
import { isFirstProcess, isWorkerThread, runInWorkerThread } from './worker-thread.ts';
import { parseMemory } from './flags/memory.ts';
import { printError, waitUntilWritten } from './print.ts';
import { EXIT_CLOSED_DIRECTORY } from './serve.ts';
import { formatLocation } from './format-error.ts';

/**
 * Returns the version in package.json. Its relative path is the same from the source and from the
 * build.
 */
function readPackageVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const argv = process.argv.slice(2);
try {
  await main();
} catch (error) {
  printError(error instanceof Error ? formatCliError(error) : String(error));
  process.exitCode = chooseExitCode(error);
}

async function main(): Promise<void> {
  const [name, others] = splitCommand(argv);
  const command = COMMANDS.find((item) => item.name === name);
  const line = parseCommandLine(others, command?.flags ?? [], process.env);
  if (line.wantsVersion) return console.log(readPackageVersion());
  if (line.wantsHelp) return printHelp(command);
  if (command !== undefined) return run(command, line);

  if (name !== undefined) printError(`unknown command "${name}"`);
  printHelp(undefined);
  process.exitCode = EXIT_USAGE;
}

function printHelp(command: Command | undefined): void {
  const { columns } = process.stdout;
  console.log(
    command === undefined ? formatOverview(COMMANDS, columns) : formatCommandHelp(command, columns),
  );
}

function chooseExitCode(error: unknown): number {
  if (isCorrectableError(error, 'INVALID_ARGUMENT')) return EXIT_USAGE;
  return isCorrectableError(error, 'UNAVAILABLE') && error.field === 'rebuild'
    ? EXIT_CLOSED_DIRECTORY
    : EXIT_FAILED;
}

/**
 * Returns the message of an error. If an export of the loaded module threw it, adds the place,
 * because the message alone may not show the cause.
 */
function formatCliError(error: Error): string {
  const { message, cause } = error;
  if (!isCorrectableError(error, 'INVALID_ARGUMENT')) return message;
  if (cause instanceof Error) return `${message}${formatLocation(cause)}`;
  const variable = findVariableFor(error.field ?? '', argv, process.env);
  return variable === undefined
    ? message
    : `${message} (from the environment variable ${variable})`;
}

async function run(command: Command, { options, words }: CommandLine): Promise<void> {
  const { name, argument: word, runsInWorkerThread = false } = command;
  const maxWords = word === undefined ? 0 : word.typed.split(' ').length;
  if (words.length > maxWords) {
    const count = maxWords === 1 ? 'one ' : '';
    const takes = word === undefined ? 'flags only' : `${count}${word.names}`;
    throw new CorrectableError(
      'INVALID_ARGUMENT',
      `${name} takes ${takes}, not "${words.join(' ')}"; see --help`,
    );
  }
  // In the first process of a container, run the command in a worker thread, so that the main
  // thread can handle signals.
  const needsThread = runsInWorkerThread || isFirstProcess;
  if (needsThread && !isWorkerThread)
    return runInWorkerThread(new URL(import.meta.url), parseMemory(options));
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
