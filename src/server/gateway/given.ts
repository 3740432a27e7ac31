/**
 * What a cast, or a program without types, may give for an option. It is looked at where it is given: later it would fail
 * as something else, or be taken in silence.
 */
import { invalidArgument } from '../../correctable/errors.ts';

/** A text with something in it. */
export function isName(given: unknown): given is string {
  return typeof given === 'string' && given !== '';
}

/** An object, and no list. */
export function isRecord(given: unknown): given is Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

/** Whether `given` is an object with methods of these names. */
export function hasMethods(given: unknown, ...names: readonly string[]): boolean {
  return isRecord(given) && names.every((name) => typeof given[name] === 'function');
}

/** @throws CorrectableError `INVALID_ARGUMENT` for what is neither a function nor left out */
export function checkFunction(field: string, given: unknown): void {
  if (given !== undefined && typeof given !== 'function') throw invalidArgument(field, 'must be a function, or none');
}

/** @throws CorrectableError `INVALID_ARGUMENT` for what is neither a logger nor left out */
export function checkLogger(given: unknown): void {
  if (given === undefined || hasMethods(given, 'debug', 'info', 'warn', 'error')) return;
  throw invalidArgument('logger', 'must have debug, info, warn and error, as one of pino has, or be left out');
}
