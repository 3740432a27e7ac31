/** Results of a service held to its contract, in words that a client may be told: the contract's and ours. */
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import { resultCheck, type ResultCheck, type ResultSchemas } from '../../protocol/contract/result-check.ts';
import { own, ownError } from '../records/own-errors.ts';
import { Chosen, Local, WithMeta, replyOf, type Reply } from '../records/reply.ts';

/** `resultCheck`, whose errors may leave a site. */
export function heldResults(operations: ResultSchemas): ResultCheck {
  const check = resultCheck(operations);
  return (operation, result) => {
    try {
      return check(operation, result);
    } catch (error) {
      throw isCorrectableError(error) ? own(error) : error;
    }
  };
}

/** The reply that something returned stands for, held to the contract. */
export function heldReply(check: ResultCheck, operation: string, returned: unknown): Reply {
  const reply = replyOf(returned);
  if (typeof reply.value === 'object' && reply.value !== null) refuseMisplaced(operation, reply.value);
  const value = checked(check, operation, reply.value);
  return value === reply.value ? reply : { ...reply, value };
}

/** Says of a result that is not there how it is given: mostly it was forgotten beside a shadow operation. */
function checked(check: ResultCheck, operation: string, value: unknown): unknown {
  try {
    return check(operation, value);
  } catch (error) {
    if (value !== undefined || !isCorrectableError(error, 'INVALID_VALUE')) throw error;
    const how = 'Return one, or give it beside the arguments: shadow.x(args, result).';
    const { field, cause } = error;
    throw own(new CorrectableError('INVALID_VALUE', `${error.message} There is none. ${how}`, { field, cause }));
  }
}

/** A schema that lets more through than it names would take these for results, and what they say would be lost. */
function refuseMisplaced(operation: string, value: unknown): void {
  if (value instanceof Chosen) {
    throw misplaced(operation, 'a shadow operation', 'Return it by itself: what has effects is not local, and is one.');
  }
  if (value instanceof Local) {
    throw misplaced(
      operation,
      'local()',
      'It is said once, of all that is returned, and not beside a shadow operation.',
    );
  }
  if (value instanceof WithMeta) throw misplaced(operation, 'withMeta()', 'Say all that goes with a result at once.');
}

function misplaced(operation: string, what: string, fix: string): CorrectableError {
  const message = `'${operation}' gave ${what} where a result belongs, and would lose it there. ${fix}`;
  return ownError('INVALID_ARGUMENT', message, `generators.${operation}`);
}
