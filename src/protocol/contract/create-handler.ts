/**
 * Functions over all operations of a contract, made of one handler an operation, whose arguments
 * its schemas have typed.
 */
import { check, CorrectableError } from '../../correctable/errors.ts';
import { checkRecord } from '../../correctable/validate.ts';
import type { Operation } from '../../correctable/operation.ts';
import { checkRegistry, findOperationHash, parseArgs } from './operation-registry.ts';
import type { ContractInfo, OperationSpecs, ParsedArgsOf } from './contract.ts';

/**
 * Handlers by operation; `C` is what the caller passes beside the arguments, as a tier's context.
 */
export type Handlers<S extends OperationSpecs, C> = {
  readonly [K in keyof S]?: (args: ParsedArgsOf<S[K]>, context: C, operation: Operation) => unknown;
};

const CALL = 'createHandler(contract, { dequeue: ({ queue }, { signal }) => … })';

/**
 * Creates a function over the operations of `contract`, such as a tier of `tiered`. It calls the
 * handler that is named like the operation. Handlers get the arguments as the schemas return them:
 * typed, and checked once per operation.
 *
 * The function fails with `UNSUPPORTED` if the contract does not name the operation, or if it has
 * no handler and there is no `otherwise`. It fails with `INVALID_ARGUMENT` if the arguments do not
 * fit.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if a handler is no function, or belongs to no
 *   operation
 * @example
 * const tiers = {
 *   cache: createHandler(articles, { article: ({ id }) => cache.get(id) }, () => skipLevel),
 *   origin: createHandler(articles, {
 *     article: ({ id }, { signal }) => fetchArticle(id, signal),
 *     rename: ({ id, title }) => renameArticle(id, title),
 *   }),
 * };
 */
export function createHandler<const S extends OperationSpecs, C = unknown>(
  contract: ContractInfo<S>,
  handlers: Handlers<S, C>,
  otherwise?: (operation: Operation, context: C) => unknown,
): (operation: Operation, context: C) => unknown {
  checkRegistry(contract, CALL);
  checkRecord(handlers, { call: CALL, field: 'handlers' });
  for (const [name, handler] of Object.entries(handlers)) {
    check(
      Object.hasOwn(contract.operations, name),
      `handlers.${name}`,
      `is no operation of '${contract.name}'`,
    );
    check(typeof handler === 'function', `handlers.${name}`, 'must be a function');
  }
  check(
    otherwise === undefined || typeof otherwise === 'function',
    'otherwise',
    'must be a function, or none',
  );
  const handleOperation = (operation: Operation, context: C): unknown => {
    const args = parseArgs(contract, operation) as ParsedArgsOf<S[string]>;
    const handle = Object.hasOwn(handlers, operation.name) ? handlers[operation.name] : undefined;
    if (handle) return handle(args, context, operation);
    if (otherwise) return otherwise(operation, context);
    throw new CorrectableError(
      'UNSUPPORTED',
      `'${operation.name}' of '${contract.name}' has no handler here: add one`,
    );
  };
  // A binding that is made of such functions passes it on.
  return Object.assign(handleOperation, {
    operationHash: (name: string) => findOperationHash(contract, name),
  });
}
