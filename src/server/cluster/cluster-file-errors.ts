/** What is wrong with a `cluster.json`: the field, and what to write. */
import { CorrectableError } from '../../correctable/errors.ts';
import { describeUnknownOption } from '../../correctable/unknown-option.ts';

/**
 * @throws CorrectableError `INVALID_ARGUMENT` if the object at that place has a
 * field of another name
 */
export function checkFields(
  place: string,
  value: object,
  names: readonly string[],
): void {
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw clusterFileError(
      `cluster.json: ${place}: ${describeUnknownOption(unknown, names, 'Field')}`,
    );
}

export function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

export function invalidFieldError(
  field: string,
  problem: string,
): CorrectableError {
  return clusterFileError(`cluster.json: ${field} ${problem}.`);
}

export function checkField(
  isRight: unknown,
  field: string,
  problem: string,
): asserts isRight {
  if (!isRight) throw invalidFieldError(field, problem);
}

/** The error of an option `cluster` that does not fit. */
export function clusterFileError(
  message: string,
  cause?: unknown,
): CorrectableError {
  return new CorrectableError('INVALID_ARGUMENT', message, {
    field: 'cluster',
    ...(cause !== undefined && { cause }),
  });
}
