/**
 * The log of the server: one JSON object a line, with the names and the numbers of pino, so that
 * its tools can read it. A package for this would bring a dozen others into every installation.
 */
import type { Logger } from '../server/gateway/context/logger.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const NUMBERS: Readonly<Record<LogLevel, number>> = {
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  silent: Infinity,
};

/** Causes may refer to each other. */
const MAX_CAUSES = 10;

/** Creates a logger that writes lines from `minLevel` on. It never throws. */
export function createJsonLogger(
  minLevel: LogLevel,
  output: { write(line: string): void },
): Logger {
  const log =
    (level: LogLevel) =>
    (fields: object, message: string): void => {
      if (NUMBERS[level] < NUMBERS[minLevel]) return;
      output.write(`${formatEntry(NUMBERS[level], fields, message)}\n`);
    };
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
}

function formatEntry(level: number, fields: object, msg: string): string {
  const entry = { level, time: Date.now() };
  try {
    const loggable = Object.entries(fields).map(([name, value]) => [name, toLoggable(value)]);
    return JSON.stringify({ ...entry, ...Object.fromEntries(loggable), msg }, formatBigint);
  } catch (error) {
    // An error of an application may have any fields.
    return JSON.stringify({ ...entry, msg, unloggable: String(error) });
  }
}

function toLoggable(value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { ...value, type: value.name, message: value.message, stack: formatStack(value) };
}

function formatBigint(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** The stack of an error with those of its causes, which are what an operator looks for. */
function formatStack(error: Error): string {
  const stacks: string[] = [];
  let current: unknown = error;
  while (current instanceof Error && stacks.length < MAX_CAUSES) {
    stacks.push(current.stack ?? String(current));
    current = current.cause;
  }
  if (current !== undefined && !(current instanceof Error)) stacks.push(String(current));
  return stacks.join('\ncaused by: ');
}
