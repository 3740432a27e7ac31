/** Checks that several options of gateways share; see also `src/correctable/given.ts`. */
import { invalidArgument } from '../../../correctable/errors.ts';
import { hasMethods } from '../../../correctable/given.ts';

/** @throws CorrectableError `INVALID_ARGUMENT` for what is neither a function nor left out */
export function checkFunction(field: string, given: unknown): void {
  if (given !== undefined && typeof given !== 'function') throw invalidArgument(field, 'must be a function, or none');
}

/** @throws CorrectableError `INVALID_ARGUMENT` for what is neither a logger nor left out */
export function checkLogger(given: unknown): void {
  if (given === undefined || hasMethods(given, 'debug', 'info', 'warn', 'error')) return;
  throw invalidArgument('logger', 'must have debug, info, warn and error, as one of pino has, or be left out');
}
