/** Errors of the domain at a site: made by a generator's context, thrown by the generator. */
import { CorrectableError, type DomainRefusal } from '../../correctable/errors.ts';
import type { ErrorInputOf, OperationSpec, OperationSpecs } from '../../protocol/contract/contract.ts';
import type { ResultCheck } from '../../protocol/contract/result-check.ts';
import { frozenTools, kept } from '../../values/frozen.ts';
import { heldResults } from './held-results.ts';

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
