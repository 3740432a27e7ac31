/**
 * Service contracts: the names, arguments and results of a service's operations. A contract types the client and is
 * checked on both sides; it never pulls the implementation, so that a web page can import it.
 */
import { check, isCorrectableError, type CorrectableError } from '../../correctable/errors.ts';
import { checkKinds, checkMemberName, checkNamed, checkRecord, isName, type NamesOf } from '../../correctable/given.ts';
import type { Reach } from '../../correctable/level.ts';
import type { Access, Operation } from '../../correctable/operation.ts';
import { keyBy, parseBy } from './parse-args.ts';
import { schemaHash } from './schema-hash.ts';
import { isSchemaPart, type InputOf, type OutputOf, type Schema } from './schema-parts.ts';

/** Errors of the domain by name, each with the schema of what it says. */
export type ErrorSchemas = Readonly<Record<string, Schema>>;

/** What a contract says about one operation. */
export interface OperationSpec<
  A extends Schema = Schema,
  R extends Schema = Schema,
  E extends ErrorSchemas = ErrorSchemas,
> {
  /** `read` changes nothing; `update` may choose a shadow operation. */
  readonly effect: Access;
  readonly args: A;
  /** Types what a client gets. A RedBlue service holds its results to it; of other stores nobody does. */
  readonly result: R;
  /**
   * Whether an update of a RedBlue service commits at its own site on each of its paths (`blue`), or is put into the one
   * order of all sites on each (`red`). The service is held to it, and then the types know which levels the views of the
   * operation can have: `causal` of a blue one, `tentative` and `strong` of a red one. Without it both may come.
   */
  readonly colour?: 'blue' | 'red' | undefined;
  /**
   * What the service may refuse the operation with: its generator throws these, and a client tells them apart by
   * `isDomainError`.
   */
  readonly errors?: E | undefined;
  /**
   * The object that the operation is about, of the parsed arguments: used for routing, caching and ordering. A gateway
   * makes it anew, whatever the client says.
   */
  key?(args: OutputOf<A>): string;
  /** Whether two results mean the same to the application; structural equality unless given. Stays with the client. */
  equals?(a: OutputOf<R>, b: OutputOf<R>): boolean;
}

/** The operations of a contract by name. */
export type OperationSpecs = Readonly<Record<string, OperationSpec>>;

/** An operation whose functions have their arguments' types from elsewhere: of `never`, they add nothing of their own. */
type AnySpec = Omit<OperationSpec, 'key' | 'equals'> & {
  key?(args: never): string;
  equals?(a: never, b: never): boolean;
};

/**
 * Types `key` and `equals` where they are written, from schemas that are inferred by themselves. Schemas that are not
 * inferred here stay `unknown`: a contextual type `Schema` makes the compiler compare all of a schema's methods with it,
 * which costs thousands of types an operation.
 */
export interface TypedFunctions<A, R> {
  readonly effect: Access;
  readonly args: A;
  readonly result: R;
  readonly colour?: 'blue' | 'red' | undefined;
  readonly errors?: ErrorSchemas | undefined;
  key?(args: OutputOf<A>): string;
  equals?(a: OutputOf<R>, b: OutputOf<R>): boolean;
}

/** The arguments that a caller gives. */
export type ArgsOf<S extends OperationSpec> = InputOf<S['args']>;
/** The arguments as a generator gets them, parsed. */
export type ParsedArgsOf<S extends OperationSpec> = OutputOf<S['args']>;
/** The result of an operation. */
export type ContractResultOf<S extends OperationSpec> = OutputOf<S['result']>;
/** The result as the service gives it, before the schema. */
export type ResultInputOf<S extends OperationSpec> = InputOf<S['result']>;

type ErrorsOf<S extends OperationSpec> = NonNullable<S['errors']>;

/** What an error of the domain says, by its name. */
export type ErrorDataOf<S extends OperationSpec> = {
  readonly [N in keyof ErrorsOf<S> & string]: OutputOf<ErrorsOf<S>[N]>;
};
/** The same as whoever makes the error gives it. */
export type ErrorInputOf<S extends OperationSpec> = {
  readonly [N in keyof ErrorsOf<S> & string]: InputOf<ErrorsOf<S>[N]>;
};

/** The levels of a blue update. */
export interface BlueReach {
  readonly levels: 'causal';
}
/** The levels of a red update. */
export interface RedReach {
  readonly levels: 'tentative' | 'strong';
}
/** The levels of a read. */
export interface ReadReach {
  readonly levels: 'causal' | 'strong';
}

/** The levels of a RedBlue service that the views of an operation can have. */
export type ReachOf<S extends OperationSpec> = S['effect'] extends 'read'
  ? ReadReach
  : S extends { readonly colour: 'blue' }
    ? BlueReach
    : S extends { readonly colour: 'red' }
      ? RedReach
      : S['effect'] extends 'update'
        ? BlueReach | RedReach
        : Reach;

/**
 * One typed builder an operation: `shop.dequeue({ queue })`. Beyond the types it checks nothing: arguments that do not fit
 * are refused with `INVALID_ARGUMENT` by whoever was given the contract, which is `redblue`, `remote`, a gateway and a site
 * of the service. A binding of your own that clients of the same process use gets what the caller gave: there it is
 * `parseArgs` that checks.
 */
export type OperationBuilders<S extends OperationSpecs> = {
  readonly [K in keyof S]: (args: ArgsOf<S[K]>) => Operation<ContractResultOf<S[K]>, ReachOf<S[K]>>;
};

/** What every contract carries beside its builders. */
export interface ContractInfo<S extends OperationSpecs = OperationSpecs> {
  readonly name: string;
  readonly operations: S;
  /** Changes whenever a schema does: client and server compare it before the first operation. Made on first use. */
  readonly hash: string;
}

/** A contract: a typed builder an operation, and what is said about each. */
export type Contract<S extends OperationSpecs = OperationSpecs> = ContractInfo<S> & OperationBuilders<S>;

/** Under which names an operation is in contracts: errors name theirs, and whoever asks about one has its part alone. */
const names = new WeakMap<OperationSpec, Set<string>>();

/** Whether the operation has this name in a contract; of one that is in none nobody knows. */
export function isCalled(operation: OperationSpec, name: string): boolean {
  return names.get(operation)?.has(name) ?? true;
}

/** Members of each contract. */
const MEMBERS: readonly string[] = ['name', 'operations', 'hash'];

/**
 * One operation, with the types of its `key` and `equals` from its schemas: for one that is defined outside of
 * `defineContract`, which types them likewise. Its effect, colour and errors stay as they are written.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming what does not fit.
 * @example
 * const dequeue = operation({
 *   effect: 'update',
 *   args: z.object({ queue: z.string() }),
 *   result: z.object({ item: z.string() }).nullable(),
 *   key: ({ queue }) => queue,
 * });
 */
export function operation<const S extends TypedFunctions<unknown, unknown>, A extends Schema, R extends Schema>(
  spec: S & TypedFunctions<A, unknown> & TypedFunctions<unknown, R>,
): NoInfer<S> {
  checkSpec(spec, 'spec');
  return spec;
}

const CALL = "defineContract('shop', { dequeue: operation({ effect: 'update', args: z.object({ … }), result: … }) })";
const SPEC_CALL = "operation({ effect: 'read', args: z.object({ key: z.string() }), result: z.string() })";

const SPEC: NamesOf<OperationSpec> = {
  effect: true,
  args: true,
  result: true,
  colour: true,
  errors: true,
  key: true,
  equals: true,
};

function checkSpec(spec: unknown, field: string): void {
  checkNamed(spec, { call: SPEC_CALL, field }, SPEC);
  const { effect, args, result, errors = {}, ...functions } = spec as Readonly<Record<string, unknown>>;
  check(effect === 'read' || effect === 'update', `${field}.effect`, "must be 'read' or 'update'");
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
  checkKinds(functions, 'function', 'key', 'equals');
}

function checkSchema(given: unknown, field: string, example: string): void {
  check(given !== undefined, field, `is missing: write ${example}`);
  const advice = `must be a schema of zod 4, not of zod 3 or another library: npm install zod@4, and write ${example}`;
  check(isSchemaPart(given), field, advice);
}

/**
 * Defines a service contract. The operations become typed builders on the contract itself.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming what does not fit: an operation that has a reserved name (`name`,
 * `operations`, `hash`, `then`, `__proto__`), one without an effect or without schemas.
 * @example
 * const shop = defineContract('shop', {
 *   dequeue: { effect: 'update', args: z.object({ queue: z.string() }), result: z.string().nullable() },
 * });
 * store.invoke(shop.dequeue({ queue: 'tickets' }));
 */
export function defineContract<
  const S extends Readonly<Record<string, AnySpec>>,
  A extends Readonly<Record<string, Schema>>,
  R extends Readonly<Record<string, Schema>>,
>(
  name: string,
  operations: S & { readonly [K in keyof A]: TypedFunctions<A[K], unknown> } & {
    readonly [K in keyof R]: TypedFunctions<unknown, R[K]>;
  },
): Contract<S> {
  check(isName(name), 'name', `must be a text: write ${CALL}`);
  checkRecord(operations, { call: CALL, field: 'operations' });
  const contract: Record<string, unknown> = { name, operations };
  for (const [operationName, spec] of Object.entries(operations)) {
    checkMemberName(operationName, `operations.${operationName}`, MEMBERS);
    checkSpec(spec, `operations.${operationName}`);
    contract[operationName] = builder(operationName, spec);
    const known = names.get(spec);
    if (known === undefined) names.set(spec, new Set([operationName]));
    else known.add(operationName);
  }
  let hash: string | undefined;
  Object.defineProperty(contract, 'hash', { enumerable: true, get: () => (hash ??= schemaHash(name, operations)) });
  return contract as Contract<S>;
}

function builder(name: string, spec: OperationSpec): (args: unknown) => Operation {
  const { effect, key, equals } = spec;
  // Most operations have neither: they are spared the spreading of nothing.
  if (key === undefined && equals === undefined) return (args) => ({ name, args, effect });
  return (args) => {
    const made = key && keyOf(name, { key, args: spec.args }, args);
    return { name, args, effect, ...(made !== undefined && { key: made }), ...(equals !== undefined && { equals }) };
  };
}

/** What a key is made by. */
type KeyedSpec = Pick<Required<OperationSpec>, 'key' | 'args'>;

/** Of the arguments as the service will see them; none of what does not fit, which is refused when it is invoked. */
function keyOf(name: string, { key, args: schema }: KeyedSpec, args: unknown): string | undefined {
  const parsed = parsedOrNone(schema, args, name);
  return parsed && keyBy(key, parsed.args, name);
}

function parsedOrNone(schema: Schema, args: unknown, name: string): { readonly args: unknown } | undefined {
  try {
    return { args: parseBy(schema, args, name) };
  } catch {
    return undefined;
  }
}

/** The error that a client gets where the service refused the operation with one that its contract declares. */
export type DomainError<S extends OperationSpec, N extends keyof ErrorDataOf<S> = keyof ErrorDataOf<S>> = {
  [K in N]: CorrectableError & {
    readonly code: 'DOMAIN';
    readonly domain: { readonly name: K; readonly data: ErrorDataOf<S>[K] };
  };
}[N];

/**
 * Whether `error` is one that the contract declares for the operation, of `name` if one is given, and not that of another
 * operation: two may declare one name for different data. A service of another
 * version may declare others: the operation's part of the contract differs then, and its calls fail with `UNSUPPORTED`
 * before they are sent.
 *
 * @example
 * try {
 *   await store.invoke(bank.withdraw({ account, amount }));
 * } catch (error) {
 *   if (isDomainError(error, bank.operations.withdraw, 'notEnough')) show(`only ${error.domain.data.balance} left`);
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
  if (domain.operation !== undefined && !isCalled(operation, domain.operation)) return false;
  return operation.errors !== undefined && Object.hasOwn(operation.errors, domain.name);
}
