/** Errors of a `cluster.json`: each names the field, and the value that it must have. */
import { CorrectableError } from '../../../correctable/errors.ts';
import { describeUnknownOption } from '../../../correctable/unknown-option.ts';

/**
 * @throws CorrectableError `INVALID_ARGUMENT` if the object at `field` has a field with an unknown
 * name
 */
export function checkFields(field: string, value: object, names: readonly string[]): void {
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw clusterFileError(
      `cluster.json: ${field}: ${describeUnknownOption(unknown, names, 'Field')}`,
    );
}

export function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

export function invalidFieldError(field: string, problem: string): CorrectableError {
  return clusterFileError(`cluster.json: ${field} ${problem}.`);
}

export function checkField(isRight: unknown, field: string, problem: string): asserts isRight {
  if (!isRight) throw invalidFieldError(field, problem);
}

/** Runs a check of options that are in the file. Its errors then name the file too. */
export function withFileErrors<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw clusterFileError(`cluster.json: ${(error as Error).message}.`, error);
  }
}

/** Creates the error for an invalid option `cluster`. */
export function clusterFileError(message: string, cause?: unknown): CorrectableError {
  return new CorrectableError('INVALID_ARGUMENT', message, {
    field: 'cluster',
    ...(cause !== undefined && { cause }),
  });
}
