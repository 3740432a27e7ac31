/**
 * Creates functions over all operations of a contract, from one handler for each operation. The
 * schemas of the contract type and check arguments and results. So a level never shows a value that
 * its contract does not allow.
 */
import { check, CorrectableError, isCorrectableError } from '../correctable/errors.ts';
import { optional, readOptions, trueOrFalse, type OptionsOf } from '../correctable/options.ts';
import { checkRecord, isThenable } from '../correctable/validate.ts';
import type { Operation } from '../correctable/operation.ts';
import { isValueWithDetails, skipLevel, withDetails } from './tier-result.ts';
import type { ValueWithDetails } from './tier-result.ts';
import { createErrorFactories, type ErrorFactories } from './error-factories.ts';
import { checkRegistry, findOperationHash, parseArgs } from './operation-registry.ts';
import { createResultCheck, type ResultCheck } from './parse-sync.ts';
import type {
  ContractInfo,
  ErrorSchemas,
  OperationSpec,
  OperationSpecs,
  ParsedArgsOf,
  ResultInputOf,
} from './contract.ts';

/**
 * The context of a handler: the context of its caller, and the errors that the operation declares.
 */
export type HandlerContext<S extends OperationSpec, C> = S extends {
  readonly errors: ErrorSchemas;
}
  ? C & { readonly errors: ErrorFactories<S> }
  : C;

type ResultOrSkip<R> = R | ValueWithDetails<R> | typeof skipLevel;

/**
 * A handler returns the result of its operation, the same in `withDetails`, `skipLevel`, or a
 * promise of one of them.
 */
export type HandlerResult<R> = ResultOrSkip<R> | PromiseLike<ResultOrSkip<R>>;

/** Handlers by operation. `C` is the context that the caller passes, like that of a tier. */
export type Handlers<S extends OperationSpecs, C> = {
  readonly [K in keyof S]?: (
    args: ParsedArgsOf<S[K]>,
    context: HandlerContext<S[K], C>,
    operation: Operation,
  ) => HandlerResult<ResultInputOf<S[K]>>;
};

/** Options of `createHandler`. */
export interface HandlerOptions {
  /**
   * Whether results are checked by the schemas of the contract. With `false`, they go out as the
   * handlers return them. Default: `true`
   */
  readonly checksResults?: boolean | undefined;
}

type AnyHandler = (args: unknown, context: unknown, operation: Operation) => unknown;

const CALL = 'createHandler(contract, { dequeue: ({ queue }, { signal }) => … })';

const OPTIONS = {
  checksResults: optional(trueOrFalse, true),
} satisfies OptionsOf<HandlerOptions>;

/**
 * Creates a function over the operations of `contract`, such as a tier of `tiered`. It calls the
 * handler that is named like the operation. Handlers get the arguments as the schemas return them:
 * typed, and checked once per operation. Their results are typed and checked likewise. If the
 * contract declares errors for an operation, its handler throws those of `errors` in its context.
 *
 * The function fails with `UNSUPPORTED` if the contract does not name the operation, or if it has
 * no handler and there is no `otherwise`. It fails with `INVALID_ARGUMENT` if the arguments do not
 * fit, and with `INVALID_VALUE` if the result does not.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if a handler is no function, or belongs to no
 * operation
 * @example
 * const tiers = {
 *   cache: createHandler(articles, { article: ({ id }) => cache.get(id) }, () => skipLevel),
 *   origin: createHandler(articles, {
 *     article: ({ id }, { signal }) => fetchArticle(id, signal),
 *     rename: ({ id, title }, { errors }) => {
 *       if (isLocked(id)) throw errors.locked({ id });
 *       return renameArticle(id, title);
 *     },
 *   }),
 * };
 */
export function createHandler<const S extends OperationSpecs, C = unknown>(
  contract: ContractInfo<S>,
  handlers: Handlers<S, C>,
  otherwise?: (operation: Operation, context: C) => unknown,
  options: HandlerOptions = {},
): (operation: Operation, context: C) => unknown {
  checkRegistry(contract, CALL);
  checkHandlers(contract, handlers, otherwise);

  const errorsOf = createErrorFactories(contract.operations);
  const { checksResults } = readOptions(options, { call: CALL }, OPTIONS);
  const checkResult = checksResults ? createResultCheck(contract.operations) : undefined;

  const handleOperation = (operation: Operation, context: C): unknown => {
    const args = parseArgs(contract, operation);
    const result = callHandler(operation, args, context);
    if (!checkResult) return result;
    if (!isThenable(result)) return checkHandlerResult(operation, result, checkResult);
    return result.then((value) => checkHandlerResult(operation, value, checkResult));
  };

  function callHandler(operation: Operation, args: unknown, context: C): unknown {
    const { name } = operation;
    const handle = findHandler(handlers, name);
    if (handle) {
      const errors = errorsOf(name);
      const given = errors ? addErrors(context, errors) : context;
      return handle.call(handlers, args, given, operation);
    }
    if (otherwise) return otherwise(operation, context);
    throw new CorrectableError(
      'UNSUPPORTED',
      `'${name}' of '${contract.name}' has no handler here: add one`,
    );
  }

  // A binding that is made of such functions exposes the contract as well.
  return Object.assign(handleOperation, {
    operationHash: (name: string) => findOperationHash(contract, name),
  });
}

/** Methods of a class count too, but not those that every object has. */
function findHandler(handlers: object, name: string): AnyHandler | undefined {
  const isHandler = Object.hasOwn(handlers, name) || !(name in Object.prototype);
  const handler: unknown = isHandler ? Reflect.get(handlers, name) : undefined;
  return typeof handler === 'function' ? (handler as AnyHandler) : undefined;
}

function checkHandlers(contract: ContractInfo, handlers: unknown, otherwise: unknown): void {
  checkRecord(handlers, { call: CALL, field: 'handlers' });
  for (const [name, handler] of Object.entries(handlers as object)) {
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
}

/**
 * Returns the context with `errors`. The caller's own context stays unchanged: it may be frozen,
 * shared by operations, or have private fields that only it can read.
 */
function addErrors(context: unknown, errors: object): unknown {
  if (typeof context !== 'object' || context === null) return { errors };
  // A proxy of the context itself could not add a field to a frozen one.
  return new Proxy<Record<string | symbol, unknown>>(
    { errors },
    {
      get(own, name): unknown {
        if (name === 'errors') return own['errors'];
        const value: unknown = Reflect.get(context, name, context);
        // A method needs its object as `this`. A function in a field may have fields of its own,
        // which `bind` would drop.
        const isMethod = typeof value === 'function' && !Object.hasOwn(context, name);
        return isMethod ? (value.bind(context) as unknown) : value;
      },
      set: (_own, name, value) => Reflect.set(context, name, value, context),
      has: (own, name) => Object.hasOwn(own, name) || Reflect.has(context, name),
      getPrototypeOf: () => Reflect.getPrototypeOf(context),
      ownKeys: (own) => [...new Set([...Reflect.ownKeys(context), ...Reflect.ownKeys(own)])],
      getOwnPropertyDescriptor(own, name) {
        const property =
          Reflect.getOwnPropertyDescriptor(own, name) ??
          Reflect.getOwnPropertyDescriptor(context, name);
        return property && { ...property, configurable: true };
      },
    },
  );
}

function checkHandlerResult(
  operation: Operation,
  result: unknown,
  checkResult: ResultCheck,
): unknown {
  if (result === skipLevel) return result;
  try {
    if (!isValueWithDetails(result)) return checkResult(operation.name, result);
    return withDetails(checkResult(operation.name, result.value), result.details);
  } catch (error) {
    throw operation.access === 'write' ? createUncertainError(error) : error;
  }
}

/** Creates the error of an update whose handler has run by then. */
function createUncertainError(error: unknown): unknown {
  if (!isCorrectableError(error)) return error;
  const message = `${error.message} The update may have been applied.`;
  return new CorrectableError(error.code, message, {
    field: error.field,
    cause: error.cause,
  });
}
