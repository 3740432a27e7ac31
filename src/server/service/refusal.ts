/** Errors of the domain at a site: made by a generator's context, thrown by the generator. */
import { CorrectableError, isCorrectableError, type DomainRefusal } from '../../correctable/errors.ts';
import type { ErrorInputOf, OperationSpec, OperationSpecs } from '../../protocol/contract/contract.ts';
import { resultCheck, type ResultCheck, type ResultSchemas } from '../../protocol/contract/parse-now.ts';
import { frozenTools, kept } from '../../values/frozen.ts';
import { own, ownError } from '../records/own-errors.ts';
import { Chosen, Local, WithMeta, replyOf, type Reply } from '../records/reply.ts';

/** A generator that throws this refuses its operation. */
export class Refusal extends Error {
  declare readonly domain: DomainRefusal;
  constructor(domain: DomainRefusal) {
    super(domain.name);
    // Not enumerable: its data are of users, and must not reach logs.
    Object.defineProperty(this, 'domain', { value: domain });
  }
}

/** What a generator gets as `errors`: one function an error that the contract declares for its operation. */
export type RefusalBuilders<S extends OperationSpec> = {
  readonly [N in keyof ErrorInputOf<S>]: (data: ErrorInputOf<S>[N]) => Refusal;
};

/** Makes the errors of all operations, and holds them to the contract. */
export class Refusals {
  readonly #builders = new Map<string, RefusalBuilders<OperationSpec>>();
  readonly #check: ResultCheck;

  constructor(operations: OperationSpecs) {
    const schemas = Object.entries(operations).flatMap(([operation, { errors = {} }]) =>
      Object.entries(errors).map(([name, result]) => [nameOf(operation, name), { result }] as const),
    );
    this.#check = heldResults(Object.fromEntries(schemas));
    for (const [operation, { errors }] of Object.entries(operations)) {
      if (errors !== undefined) this.#builders.set(operation, buildersOf(Object.keys(errors)));
    }
  }

  /** What the generator of the operation can throw. */
  of(operation: string): RefusalBuilders<OperationSpec> {
    return this.#builders.get(operation) ?? NONE;
  }

  /** Whether the contract declares the error for this operation: it may come from another one's context. */
  declares(operation: string, { domain }: Refusal): boolean {
    return Object.hasOwn(this.of(operation), domain.name);
  }

  /**
   * The error that a client gets, and again if it asks again: of what its author goes on with, a copy.
   *
   * @throws CorrectableError `INVALID_VALUE` where its data do not fit the contract
   */
  errorOf(operation: string, { domain: { name, data } }: Refusal): CorrectableError {
    const checked = this.#check(nameOf(operation, name), data);
    return new CorrectableError('DOMAIN', `${operation}: ${name}`, { domain: { name, data: kept(checked) } });
  }
}

const NONE: RefusalBuilders<OperationSpec> = Object.freeze({});

function buildersOf(names: readonly string[]): RefusalBuilders<OperationSpec> {
  return frozenTools(Object.fromEntries(names.map((name) => [name, (data: unknown) => new Refusal({ name, data })])));
}

const nameOf = (operation: string, name: string): string => `${operation}, error '${name}'`;

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
