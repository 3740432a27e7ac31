/**
 * Service contracts: names, arguments and results of operations. Pages can import them without the
 * implementation.
 */
import { check, isCorrectableError, type CorrectableError } from '../correctable/errors.ts';
import {
  checkOptionTypes,
  checkMemberName,
  checkOptionNames,
  checkRecord,
  isNonEmptyString,
  type OptionNamesOf,
} from '../correctable/validate.ts';
import type { FinalLevels } from '../correctable/level-types.ts';
import type { Access, Operation } from '../correctable/operation.ts';
import { computeKey, parseArgsWith } from './operation-registry.ts';
import { hashSchema } from './schema-hash.ts';
import { isSchemaPart, type InputOf, type OutputOf, type Schema } from './schema-parts.ts';

/** Errors of the domain by name, each with the schema of its data. */
export type ErrorSchemas = Readonly<Record<string, Schema>>;

/** Specifies one operation of a contract. */
export interface OperationSpec<
  A extends Schema = Schema,
  R extends Schema = Schema,
  E extends ErrorSchemas = ErrorSchemas,
> {
  /** `read` changes nothing; `write` may choose a shadow operation. */
  readonly access: Access;
  readonly args: A;
  /**
   * Types the result for a client. A RedBlue service and the handlers of `createHandler` check
   * their results against it; other stores do not.
   */
  readonly result: R;
  /**
   * How an update of a RedBlue service commits on each of its paths. `blue`: at its own site.
   * `red`: in the one order of all sites. The service enforces it. So the types know which levels
   * the views can have: `causal` if blue, `tentative` and `strong` if red. Default: both may occur
   */
  readonly color?: 'blue' | 'red' | undefined;
  /**
   * Errors that the service may refuse the operation with. Its generator or handler throws them,
   * made by `errors` of its context. Test with `isDomainError`.
   */
  readonly errors?: E | undefined;
  /**
   * The argument that names the partition whose red log orders the operation: the text before its
   * first `/`, as for the rows of a table with `partition: 'key'`. For the first item of a list,
   * write `keys.0`, or `writes.0.key`: an empty list names `main`. Only for a RedBlue service.
   * Default: `main`
   */
  readonly partitionBy?: TextArgument<OutputOf<A>> | undefined;
  /**
   * The partition whose red log orders the operation with any arguments. Not together with
   * `partitionBy`. Default: `main`
   */
  readonly partition?: string | undefined;
  /**
   * Returns the object that the operation acts on, from the parsed arguments: used for routing,
   * caching and ordering. A gateway computes it itself and ignores the client's.
   */
  key?(args: OutputOf<A>): string;
  /**
   * Returns whether two results mean the same to the application. Client only. Default: structural
   * equality
   */
  equals?(a: OutputOf<R>, b: OutputOf<R>): boolean;
}

/** The operations of a contract by name. */
export type OperationSpecs = Readonly<Record<string, OperationSpec>>;

/**
 * The names of the arguments `T` that are always text, and of the first items of lists, or any name
 * if the type is not known.
 */
export type TextArgument<T> = [T] extends [never]
  ? string
  : unknown extends T
    ? string
    : {
        [K in keyof T & string]-?: T[K] extends string
          ? K
          : T[K] extends readonly (infer Item)[]
            ? `${K}.0${TextOfItem<Item>}`
            : never;
      }[keyof T & string];

/** What names the text of an item of a list: nothing, or a field of it. */
type TextOfItem<Item> = Item extends string
  ? ''
  : {
      [K in keyof Item & string]-?: Item[K] extends string ? `.${K}` : never;
    }[keyof Item & string];

/** An operation without the types of its functions, which `TypedSpec` adds from the schemas. */
type AnySpec = Omit<OperationSpec, 'key' | 'equals'> & {
  key?(args: never): string;
  equals?(a: never, b: never): boolean;
};

/**
 * Types `key`, `equals` and `partitionBy` from the inferred schemas. To type them by `Schema` would
 * create thousands of types for each operation.
 */
export interface TypedSpec<A, R> extends Pick<
  OperationSpec,
  'access' | 'color' | 'errors' | 'partition'
> {
  readonly args: A;
  readonly result: R;
  readonly partitionBy?: TextArgument<OutputOf<A>> | undefined;
  key?(args: OutputOf<A>): string;
  equals?(a: OutputOf<R>, b: OutputOf<R>): boolean;
}

/** The arguments that a caller passes. */
export type ArgsOf<S extends OperationSpec> = InputOf<S['args']>;
/** The arguments that a generator gets, parsed. */
export type ParsedArgsOf<S extends OperationSpec> = OutputOf<S['args']>;
/** The result of an operation. */
export type ContractResultOf<S extends OperationSpec> = OutputOf<S['result']>;
/** The result as the service returns it, before the schema. */
export type ResultInputOf<S extends OperationSpec> = InputOf<S['result']>;

type ErrorsOf<S extends OperationSpec> = NonNullable<S['errors']>;

/** The data of the domain errors, by their names. */
export type ErrorDataOf<S extends OperationSpec> = {
  readonly [N in keyof ErrorsOf<S> & string]: OutputOf<ErrorsOf<S>[N]>;
};
/** The same data as the generator that throws the error passes it, before parsing. */
export type ErrorInputOf<S extends OperationSpec> = {
  readonly [N in keyof ErrorsOf<S> & string]: InputOf<ErrorsOf<S>[N]>;
};

/** The levels of a blue update. */
export interface BlueFinalLevels {
  readonly levels: 'causal';
}
/** The levels of a red update. */
export interface RedFinalLevels {
  readonly levels: 'tentative' | 'strong';
}
/** The levels of a read. */
export interface ReadFinalLevels {
  readonly levels: 'causal' | 'strong';
}

/** The levels of a RedBlue service that the views of an operation can have. */
export type FinalLevelsOf<S extends OperationSpec> = S['access'] extends 'read'
  ? ReadFinalLevels
  : S extends { readonly color: 'blue' }
    ? BlueFinalLevels
    : S extends { readonly color: 'red' }
      ? RedFinalLevels
      : S['access'] extends 'write'
        ? BlueFinalLevels | RedFinalLevels
        : FinalLevels;

/**
 * One typed builder for each operation: `shop.dequeue({ queue })`. Beyond the types it checks
 * nothing. If arguments do not fit, each part with the contract refuses them with
 * `INVALID_ARGUMENT`: `redblue`, `remote`, a gateway and a site. A binding of your own for clients
 * of the same process gets what the caller passed. Check it there with `parseArgs`.
 */
export type OperationBuilders<S extends OperationSpecs> = {
  readonly [K in keyof S]: (
    args: ArgsOf<S[K]>,
  ) => Operation<ContractResultOf<S[K]>, FinalLevelsOf<S[K]>>;
};

/** Properties of every contract beside its builders. */
export interface ContractInfo<S extends OperationSpecs = OperationSpecs> {
  readonly name: string;
  readonly operations: S;
  /**
   * Changes whenever a schema does. Client and server compare it before the first operation.
   * Computed on first use.
   */
  readonly hash: string;
}

/** A contract: a typed builder for each operation, and the specification of each. */
export type Contract<S extends OperationSpecs = OperationSpecs> = ContractInfo<S> &
  OperationBuilders<S>;

/**
 * The names of an operation in contracts. Errors contain them, and a client may send only one part
 * of a contract.
 */
const operationNames = new WeakMap<OperationSpec, Set<string>>();

/** Returns whether the operation has this name in a contract. True if it is in no contract. */
export function hasOperationName(operation: OperationSpec, name: string): boolean {
  return operationNames.get(operation)?.has(name) ?? true;
}

const RESERVED_MEMBERS: readonly string[] = ['name', 'operations', 'hash'];

/**
 * Returns one operation, with the types of its `key` and `equals` from its schemas. Use it to
 * define an operation outside of `defineContract`, which types them likewise. Its access, color and
 * errors keep their literal types.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the operation is invalid; names the invalid part
 * @example
 * const dequeue = operation({
 *   access: 'write',
 *   args: z.object({ queue: z.string() }),
 *   result: z.object({ item: z.string() }).nullable(),
 *   key: ({ queue }) => queue,
 * });
 */
export function operation<
  const S extends TypedSpec<unknown, unknown>,
  A extends Schema,
  R extends Schema,
>(spec: S & TypedSpec<A, unknown> & TypedSpec<unknown, R>): NoInfer<S> {
  checkSpec(spec, 'spec');
  return spec;
}

const CALL =
  "defineContract('shop', { dequeue: operation({ access: 'write', args: z.object({ … }), result: … }) })";
const SPEC_CALL =
  "operation({ access: 'read', args: z.object({ key: z.string() }), result: z.string() })";

const SPEC_FIELDS: OptionNamesOf<OperationSpec> = {
  access: true,
  args: true,
  result: true,
  color: true,
  errors: true,
  partitionBy: true,
  partition: true,
  key: true,
  equals: true,
};

function checkSpec(spec: unknown, field: string): void {
  checkOptionNames(spec, { call: SPEC_CALL, field }, SPEC_FIELDS);
  const {
    access,
    args,
    result,
    errors = {},
    partitionBy,
    partition,
    ...functions
  } = spec as Readonly<Record<string, unknown>>;
  check(access === 'read' || access === 'write', `${field}.access`, "must be 'read' or 'write'");
  checkSchema(args, `${field}.args`, 'z.object({ key: z.string() })');
  checkSchema(result, `${field}.result`, 'z.string(), or z.void() for none');
  checkRecord(errors, {
    call: '{ errors: { notEnough: z.object({ balance: z.number() }) } }',
    field: `${field}.errors`,
  });
  for (const [name, schema] of Object.entries(errors as object) as [string, unknown][]) {
    checkMemberName(name, `${field}.errors.${name}`);
    checkSchema(schema, `${field}.errors.${name}`, 'z.object({ balance: z.number() })');
  }
  checkOptionTypes(functions, 'function', 'key', 'equals');
  checkHome(partitionBy, partition, field);
}

/** Checks the types only. What they name is checked when a site starts. */
function checkHome(partitionBy: unknown, partition: unknown, field: string): void {
  check(
    partitionBy === undefined || isNonEmptyString(partitionBy),
    `${field}.partitionBy`,
    "must be the name of an argument, as 'account'",
  );
  check(
    partition === undefined || isNonEmptyString(partition),
    `${field}.partition`,
    "must be the name of a partition, as 'us'",
  );
  check(
    partitionBy === undefined || partition === undefined,
    `${field}.partition`,
    'has no meaning beside partitionBy: declare one of both',
  );
}

function checkSchema(value: unknown, field: string, example: string): void {
  check(value !== undefined, field, `is missing: write ${example}`);
  const advice = `must be a schema of zod 4, not of zod 3 or another library: npm install zod@4, and write ${example}`;
  check(isSchemaPart(value), field, advice);
}

/**
 * Defines a service contract. The operations become typed builders on the contract itself.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the name is empty, or an operation has no
 * `access`, no schemas or a reserved name; names the invalid part. Reserved: `name`, `operations`,
 * `hash`, `then`, `__proto__`.
 * @example
 * const shop = defineContract('shop', {
 *   dequeue: {
 *     access: 'write',
 *     args: z.object({ queue: z.string() }),
 *     result: z.string().nullable(),
 *   },
 * });
 * store.invoke(shop.dequeue({ queue: 'tickets' }));
 */
export function defineContract<
  const S extends Readonly<Record<string, AnySpec>>,
  A extends Readonly<Record<string, Schema>>,
  R extends Readonly<Record<string, Schema>>,
>(
  name: string,
  operations: S & { readonly [K in keyof A]: TypedSpec<A[K], unknown> } & {
    readonly [K in keyof R]: TypedSpec<unknown, R[K]>;
  },
): Contract<S> {
  check(isNonEmptyString(name), 'name', `must be a text: write ${CALL}`);
  checkRecord(operations, { call: CALL, field: 'operations' });
  const contract: Record<string, unknown> = { name, operations };
  for (const [operationName, spec] of Object.entries(operations)) {
    checkMemberName(operationName, `operations.${operationName}`, RESERVED_MEMBERS);
    checkSpec(spec, `operations.${operationName}`);
    contract[operationName] = createBuilder(operationName, spec);
    const known = operationNames.get(spec);
    if (known === undefined) operationNames.set(spec, new Set([operationName]));
    else known.add(operationName);
  }
  let hash: string | undefined;
  Object.defineProperty(contract, 'hash', {
    enumerable: true,
    get: () => (hash ??= hashSchema(name, operations)),
  });
  return contract as Contract<S>;
}

function createBuilder(name: string, spec: OperationSpec): (args: unknown) => Operation {
  const { access, key, equals } = spec;
  // Most operations have neither, so they are not spread.
  if (key === undefined && equals === undefined) return (args) => ({ name, args, access });
  return (args) => {
    const made = key && getKey(name, { key, args: spec.args }, args);
    return {
      name,
      args,
      access,
      ...(made !== undefined && { key: made }),
      ...(equals !== undefined && { equals }),
    };
  };
}

interface KeyedSpec {
  key(args: unknown): string;
  readonly args: Schema;
}

/**
 * Returns the key of the parsed arguments, or `undefined` if they do not fit. `invoke` rejects such
 * arguments.
 */
function getKey(name: string, { key, args: schema }: KeyedSpec, args: unknown): string | undefined {
  const parsed = tryParse(schema, args, name);
  return parsed && computeKey(key, parsed.args, name);
}

function tryParse(
  schema: Schema,
  args: unknown,
  name: string,
): { readonly args: unknown } | undefined {
  try {
    return { args: parseArgsWith(schema, args, name) };
  } catch {
    return undefined;
  }
}

/**
 * The error that a client gets if the service refuses the operation with an error of its contract.
 */
export type DomainError<
  S extends OperationSpec,
  N extends keyof ErrorDataOf<S> = keyof ErrorDataOf<S>,
> = {
  [K in N]: CorrectableError & {
    readonly code: 'DOMAIN';
    readonly domain: { readonly name: K; readonly data: ErrorDataOf<S>[K] };
  };
}[N];

/**
 * Returns whether `error` is one that the contract declares for the operation, and has `name` if
 * you pass it. An error of another operation does not count: two may declare one name for different
 * data. A service of another version may declare others. Then its part of the contract differs, and
 * calls fail with `UNSUPPORTED` before they are sent.
 *
 * @example
 * try {
 *   await store.invoke(bank.withdraw({ account, amount }));
 * } catch (error) {
 *   if (isDomainError(error, bank.operations.withdraw, 'notEnough'))
 *     show(`only ${error.domain.data.balance} left`);
 *   else throw error;
 * }
 */
export function isDomainError<
  S extends OperationSpec,
  const N extends keyof ErrorDataOf<S> & string = keyof ErrorDataOf<S> & string,
>(error: unknown, operation: S, name?: N): error is DomainError<S, N> {
  if (!isCorrectableError(error, 'DOMAIN')) return false;
  const { domain } = error;
  if (domain === undefined || (name !== undefined && domain.name !== name)) return false;
  if (domain.operation !== undefined && !hasOperationName(operation, domain.operation))
    return false;
  return operation.errors !== undefined && Object.hasOwn(operation.errors, domain.name);
}
