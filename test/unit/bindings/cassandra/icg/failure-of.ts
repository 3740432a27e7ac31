/** How an action of the client fails. */
import { isCorrectableError } from '../../../../../src/correctable/errors.ts';
import { CqlError } from '../../../../../src/bindings/cassandra/icg/cql-error.ts';

/** The code of the error, the error as text if it is of another kind, or `undefined` if there is none. */
export function failureOf(action: () => void): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return error instanceof CqlError || isCorrectableError(error) ? error.code : String(error);
  }
}
