/** What the arguments of an operation were before a schema made others of them. */
import type { Operation } from '../../correctable/operation.ts';

/**
 * Keeps what came for this very object: a copy of it, whose arguments somebody may have changed, is an operation like any
 * other.
 */
export class ParsedOperation {
  readonly #input: unknown;

  constructor(input: unknown) {
    this.#input = input;
  }

  /** The arguments as the caller gave them: a store with another contract makes its own of them. */
  static inputOf(operation: Operation): unknown {
    return #input in operation ? operation.#input : operation.args;
  }
}

/** The operation as it is sent on: with the arguments that the caller gave. */
export function asGiven<T>(operation: Operation<T>): Operation<T> {
  const args = ParsedOperation.inputOf(operation);
  return args === operation.args ? operation : { ...operation, args };
}
