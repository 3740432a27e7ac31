/** Domain errors at a site: a generator's context creates them, and the generator throws them. */
import {
  CorrectableError,
  isCorrectableError,
  type DomainErrorInfo,
} from '../../correctable/errors.ts';
import type { ErrorInputOf, OperationSpec, OperationSpecs } from '../../contract/contract.ts';
import type { Schema } from '../../contract/schema-parts.ts';
import { createSchemaCheck, type SchemaCheck } from '../../contract/parse-sync.ts';
import { freezeFunctions, freezeWireCopy } from '../../values/deep-freeze.ts';
import { markInternal, createInternalError } from './records/internal-errors.ts';
import { ChosenShadow, UncertifiedResult, WithMeta, toReply, type Reply } from './records/reply.ts';

/** An error that a generator throws to refuse its operation. */
export class ThrownDomainError extends Error {
  declare readonly domain: DomainErrorInfo;
  constructor(domain: DomainErrorInfo) {
    super(domain.name);
    // Not enumerable: the data belongs to users, and must not reach logs.
    Object.defineProperty(this, 'domain', { value: domain });
  }
}

/**
 * Type of a generator's `errors`: one function for each error that the contract declares for its
 * operation.
 */
export type DomainErrorFactory<S extends OperationSpec> = {
  readonly [N in keyof ErrorInputOf<S>]: (data: ErrorInputOf<S>[N]) => ThrownDomainError;
};

/** Creates the errors of all operations and validates them against the contract. */
export class DomainErrors {
  readonly #factories = new Map<string, DomainErrorFactory<OperationSpec>>();
  /** By operation and name of the error. */
  readonly #checks = new Map<string, SchemaCheck>();

  constructor(operations: OperationSpecs) {
    for (const [operation, { errors = {} }] of Object.entries(operations)) {
      for (const [name, data] of Object.entries(errors)) {
        const described = formatErrorName(operation, name);
        this.#checks.set(described, createSchemaCheck(described, data));
      }
      const made = Object.keys(errors).map((name) => [
        name,
        (data: unknown) => new ThrownDomainError({ name, data }),
      ]);
      this.#factories.set(operation, freezeFunctions(Object.fromEntries(made)));
    }
  }

  /** Returns the errors that the generator of the operation can throw. */
  getFactories(operation: string): DomainErrorFactory<OperationSpec> {
    return this.#factories.get(operation) ?? NONE;
  }

  /**
   * Returns whether the contract declares the error for this operation. It may come from another
   * operation.
   */
  declares(operation: string, { domain }: ThrownDomainError): boolean {
    return Object.hasOwn(this.getFactories(operation), domain.name);
  }

  /**
   * Returns the error for the client, the same for a retry. Its data are a copy, so later changes
   * have no effect.
   *
   * @throws CorrectableError `INVALID_VALUE` if its data do not match the contract.
   */
  toClientError(
    operation: string,
    { domain: { name, data } }: ThrownDomainError,
  ): CorrectableError {
    const check = this.#checks.get(formatErrorName(operation, name));
    const checked = check === undefined ? data : checkForClient(() => check(data));
    return new CorrectableError('DOMAIN', `${operation}: ${name}`, {
      domain: { name, data: freezeWireCopy(checked) },
    });
  }
}

const NONE: DomainErrorFactory<OperationSpec> = Object.freeze({});

const formatErrorName = (operation: string, name: string): string =>
  `${operation}, error '${name}'`;

/** Marks the errors of a check: they may leave the site. */
function checkForClient<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw isCorrectableError(error) ? markInternal(error) : error;
  }
}

/**
 * Returns the reply for a value that a generator or a shadow operation returned. Throws
 * `INVALID_VALUE` if it does not fit the contract.
 */
export type ReplyCheck = (returned: unknown) => Reply;

export function createReplyCheck(operation: string, result: Schema): ReplyCheck {
  const check = createSchemaCheck(operation, result);
  return (returned) => {
    const reply = toReply(returned);
    if (typeof reply.value === 'object' && reply.value !== null)
      rejectMisplaced(operation, reply.value);
    try {
      const value = check(reply.value);
      return value === reply.value ? reply : { ...reply, value };
    } catch (error) {
      if (!isCorrectableError(error)) throw error;
      throw explainMissing(markInternal(error), reply.value);
    }
  };
}

/** Explains a missing result. Usually it was forgotten beside a shadow operation. */
function explainMissing(error: CorrectableError, value: unknown): CorrectableError {
  if (value !== undefined || error.code !== 'INVALID_VALUE') return error;
  const how = 'Return one, or give it beside the arguments: shadow.x(args, result).';
  const { field, cause } = error;
  return markInternal(
    new CorrectableError('INVALID_VALUE', `${error.message} There is none. ${how}`, {
      field,
      cause,
    }),
  );
}

/**
 * Rejects an error or a choice inside a result: a loose schema would accept it as a result, and its
 * meaning would be lost.
 */
function rejectMisplaced(operation: string, value: unknown): void {
  const found = MISPLACED.find(([kind]) => value instanceof kind);
  if (found === undefined) return;
  const [, description, fix] = found;
  const message = `'${operation}' gave ${description} in place of a result, and would lose it there. ${fix}`;
  throw createInternalError('INVALID_ARGUMENT', message, `generators.${operation}`);
}

const MISPLACED = [
  [
    ChosenShadow,
    'a shadow operation',
    'Return it by itself: what has effects is not local, and is one.',
  ],
  [
    UncertifiedResult,
    'uncertified()',
    'Call it once, around all that is returned, and not beside a shadow operation.',
  ],
  [WithMeta, 'withMeta()', 'Say all that goes with a result at once.'],
] as const;
