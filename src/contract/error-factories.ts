/**
 * Creates the errors that a contract declares, for handlers to throw. A generator of a RedBlue
 * service has factories of the same shape (`src/server/service/domain-errors.ts`), which are part
 * of its deterministic run.
 */
import { CorrectableError } from '../correctable/errors.ts';
import type { DomainError, ErrorInputOf, OperationSpec, OperationSpecs } from './contract.ts';
import { createResultCheck } from './parse-sync.ts';

/** One function for each error that the contract declares for the operation. */
export type ErrorFactories<S extends OperationSpec> = {
  readonly [N in keyof ErrorInputOf<S>]: (data: ErrorInputOf<S>[N]) => DomainError<S, N>;
};

type AnyFactories = Readonly<Record<string, (data: unknown) => CorrectableError>>;

/**
 * Returns a function that finds the factories of an operation. It returns `undefined` if the
 * operation has none.
 */
export function createErrorFactories(
  operations: OperationSpecs,
): (operation: string) => AnyFactories | undefined {
  const factories = new Map<string, AnyFactories>();
  for (const [operation, { errors = {} }] of Object.entries(operations))
    if (Object.keys(errors).length > 0) factories.set(operation, create(operation, errors));
  return (operation) => factories.get(operation);
}

function create(operation: string, errors: NonNullable<OperationSpec['errors']>): AnyFactories {
  const format = (name: string): string => `${operation}, error '${name}'`;
  const schemas = Object.entries(errors).map(([name, result]) => [format(name), { result }]);
  const checkData = createResultCheck(Object.fromEntries(schemas) as Record<string, never>);

  const made = Object.keys(errors).map((name) => [
    name,
    (data: unknown) => {
      const domain = { name, data: checkData(format(name), data), operation };
      return new CorrectableError('DOMAIN', `${operation}: ${name}`, {
        domain,
      });
    },
  ]);
  return Object.freeze(Object.fromEntries(made) as AnyFactories);
}
