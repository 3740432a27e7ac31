/**
 * The application's own prepared statements as operations: a catalogue of names with typed arguments and results. Callers
 * name a statement; its text, and how rows are read, stay with whoever made the binding.
 */
import { check, CorrectableError, invalidArgument } from '../../../correctable/errors.ts';
import {
  checkKinds,
  checkMemberName,
  checkNamed,
  checkRecord,
  hasMethods,
  isName,
  isRecord,
  type NamesOf,
} from '../../../correctable/given.ts';
import type { Access, Operation } from '../../../correctable/operation.ts';
import { requireWholeText } from '../../../engine-client/whole-text.ts';
import { bindMarkers, isConditional, isSelect } from './markers.ts';
import { nothing, type ResultShape } from './results.ts';
import { checked, type AnySchema, type SchemaInput, type SchemaOutput } from './standard-schema.ts';

/** How a statement is executed. */
export interface StatementText<Args, R> {
  /** With named markers (`:user`), which stand for the arguments of these names, or `?`, for which `params` is needed. */
  readonly cql: string;
  /** How rows become the result; needed for reads. */
  readonly result?: ResultShape<R>;
  /** A value for each marker, in their order; unless given, those of the arguments by the markers' names. */
  params?(args: Args): readonly unknown[];
  /**
   * Whether an update may be sent again where nobody knows whether it was made: not for counters, lists that grow, `now()`
   * and conditions. False unless given; reads always may.
   */
  readonly idempotent?: boolean;
}

/** One statement: what callers see of it, and how it is executed. */
export interface StatementSpec<A extends AnySchema = AnySchema, R = unknown> extends StatementText<SchemaOutput<A>, R> {
  readonly effect: Access;
  /** The arguments: a schema of zod, valibot or another library with the Standard Schema interface. */
  readonly args: A;
  /** The object that the operation is about: used for routing, caching and ordering. */
  key?(args: SchemaInput<A>): string;
  /** Whether two results mean the same to the application; structural equality unless given. */
  equals?(a: R, b: R): boolean;
}

/** A checked statement, ready to be executed. */
export interface Statement {
  readonly name: string;
  readonly effect: Access;
  readonly cql: string;
  readonly isIdempotent: boolean;
  readonly result: ResultShape<unknown>;
  /** The arguments, checked, and the values for the markers. @throws CorrectableError `INVALID_ARGUMENT` */
  readonly bind: (args: unknown) => BoundStatement;
}

/** What the arguments of one call come to. */
export interface BoundStatement {
  readonly params: readonly unknown[];
  readonly pageState: string | undefined;
  readonly pageSize: number;
}

const LIST: unique symbol = Symbol.for('correctables.cassandra.statements');

/** A catalogue of statements, to be given to a binding. */
export interface Statements {
  readonly [LIST]: readonly Statement[];
}

/** The statements in a catalogue. */
export function listOf(statements: Statements): readonly Statement[] {
  const list: readonly Statement[] | undefined = (statements as Statements | null | undefined)?.[LIST];
  if (list !== undefined) return list;
  throw invalidArgument('statements', 'give what defineStatements or implementStatements made');
}

/** A typed builder for each statement: `ads.profile({ user })`. */
export type StatementBuilders<S extends AnySpecs> = {
  readonly [K in keyof S]: (args: SchemaInput<S[K]['args']>) => Operation<ResultOfSpec<S[K]>>;
};

type ResultOfSpec<S> = 'result' extends keyof S
  ? S extends { readonly result?: ResultShape<infer R> | undefined }
    ? R
    : void
  : void;

/** Any statement: what its functions take is between them and its schemas. */
export interface AnySpec {
  readonly effect: Access;
  readonly cql: string;
  readonly args: AnySchema;
  readonly result?: ResultShape<unknown>;
  readonly idempotent?: boolean;
  params?(args: never): readonly unknown[];
  key?(args: never): string;
  equals?(a: never, b: never): boolean;
}

/** Statements by name. */
export type AnySpecs = Readonly<Record<string, AnySpec>>;

/**
 * A statement with its types inferred, so that `params`, `key` and `equals` are typed by the schema and the result.
 *
 * @example
 * const profile = statement({
 *   effect: 'read',
 *   cql: 'SELECT refs, WRITETIME(refs) AS written FROM profiles WHERE user = :user',
 *   args: z.object({ user: z.string() }),
 *   result: one((row) => row['refs'] as string[], { version: 'written' }),
 * });
 */
export function statement<A extends AnySchema, R>(spec: WithResult<A, R>): WithResult<A, R>;
export function statement<A extends AnySchema>(spec: StatementSpec<A, void>): StatementSpec<A, void>;
export function statement(spec: AnySpec): AnySpec {
  checkSpec('spec', spec);
  return spec;
}

type WithResult<A extends AnySchema, R> = StatementSpec<A, R> & { readonly result: ResultShape<R> };

/**
 * A catalogue of statements with a typed builder for each.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the statement and the field that cannot be
 * @example
 * const ads = defineStatements({
 *   profile: {
 *     effect: 'read',
 *     cql: 'SELECT refs FROM profiles WHERE user = :user',
 *     args: z.object({ user: z.string() }),
 *     result: one((row) => row['refs'] as string[]),
 *   },
 * });
 * const store = createClient(cassandra({ contactPoints: ['frk:9042'], keyspace: 'ads', statements: ads }));
 * const refs = await store.invoke(ads.profile({ user: 'ada' })); // string[] | undefined
 */
export function defineStatements<const S extends AnySpecs>(specs: S): StatementBuilders<S> & Statements {
  checkRecord(specs, { call: `defineStatements({ profile: ${SPEC} })`, field: 'statements' });
  const builders: Record<string, unknown> = {};
  const list: Statement[] = [];
  for (const [name, spec] of Object.entries(specs)) {
    checkMemberName(name, `statements.${name}`);
    const { effect, key, equals } = spec;
    list.push(checkedStatement(name, spec));
    builders[name] = (args: never): Operation => ({
      name,
      args,
      effect,
      ...(key !== undefined && { key: key(args) }),
      ...(equals !== undefined && { equals }),
    });
  }
  return Object.assign(builders, { [LIST]: list }) as unknown as StatementBuilders<S> & Statements;
}

/** The part of a service contract that is needed: what `defineContract` makes has it. */
export interface ContractLike {
  readonly operations: Readonly<
    Record<string, { readonly effect: Access; readonly args: AnySchema; readonly result: AnySchema }>
  >;
}

/** How each operation of a contract is executed; those of the portable vocabulary are built in. */
export type Implementations<C extends ContractLike> = {
  readonly [K in Exclude<keyof C['operations'], 'get' | 'put' | 'getMany'>]: StatementText<
    SchemaOutput<C['operations'][K]['args']>,
    SchemaOutput<C['operations'][K]['result']>
  >;
};

/**
 * The statements behind a contract: pages and other clients share the contract, and name its operations; the statements
 * stay on the server that hosts the binding.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the statement and the field that cannot be
 * @example
 * const statements = implementStatements(contract, {
 *   profile: { cql: 'SELECT refs FROM profiles WHERE user = :user', result: one((row) => row['refs'] as string[]) },
 * });
 */
export function implementStatements<C extends ContractLike>(
  contract: C,
  implementations: Implementations<C>,
): Statements {
  const call = 'implementStatements(contract, { profile: { cql, result } })';
  const isContract = isRecord(contract) && isRecord(contract.operations);
  check(isContract, 'contract', `must be one made by defineContract: write ${call}`);
  checkRecord(implementations, { call, field: 'implementations' });
  const { operations } = contract;
  const list = Object.entries<Omit<AnySpec, 'effect' | 'args'>>(implementations).map(([name, text]) => {
    const { effect, args } = operations[name] ?? {};
    if (effect === undefined || args === undefined) throw invalidArgument(name, 'the contract has no such operation');
    checkRecord(text, { call: '{ cql, result }', field: name });
    return checkedStatement(name, { ...text, effect, args });
  });
  const built = new Set(['get', 'put', 'getMany', ...list.map(({ name }) => name)]);
  const missing = Object.keys(operations).find((name) => !built.has(name));
  if (missing !== undefined) throw invalidArgument(missing, 'give the statement for this operation of the contract');
  return { [LIST]: list };
}

const SPEC = "{ effect: 'read', cql: 'SELECT …', args: z.object({ … }), result: one(…) }";

const FIELDS: NamesOf<AnySpec> = {
  effect: true,
  cql: true,
  args: true,
  result: true,
  idempotent: true,
  params: true,
  key: true,
  equals: true,
};

/** What is seen without reading the text of the statement. */
function checkSpec(name: string, given: unknown): void {
  checkNamed(given, { call: SPEC, field: name }, FIELDS);
  const spec = given as Readonly<Record<string, unknown>>;
  const { effect, cql, args, result } = spec;
  check(effect === 'read' || effect === 'update', `${name}.effect`, "must be 'read' or 'update'");
  check(isName(cql), `${name}.cql`, 'must be the text of a statement');
  const isSchema = (typeof args === 'object' || typeof args === 'function') && args !== null && '~standard' in args;
  check(isSchema, `${name}.args`, 'must be a schema, as z.object({ user: z.string() })');
  check(
    result === undefined || hasMethods(result, 'make'),
    `${name}.result`,
    'must be made by one, rows, page, applied',
  );
  checkKinds(spec, 'function', 'params', 'key', 'equals');
  checkKinds(spec, 'boolean', 'idempotent');
}

function checkedStatement(name: string, spec: AnySpec): Statement {
  checkSpec(name, spec);
  const { cql, effect, idempotent = false } = spec;
  if (effect === 'read' && !isSelect(cql))
    throw invalidArgument(`${name}.effect`, "a statement that is no SELECT is an 'update'");
  if (effect === 'update' && isSelect(cql)) throw invalidArgument(`${name}.effect`, "a SELECT is a 'read'");
  const result = spec.result ?? nothing();
  if (effect === 'read' && (result.kind === 'nothing' || result.kind === 'applied')) {
    throw invalidArgument(`${name}.result`, 'say how rows become the result: one(), rows() or page()');
  }
  if (result.kind === 'applied' && !isConditional(cql)) {
    throw invalidArgument(`${name}.result`, 'applied() is for updates with IF: without one the update is always made');
  }
  const markers = bindMarkers(cql);
  if (spec.params === undefined && markers.includes(undefined)) {
    throw invalidArgument(`${name}.params`, 'give the values for the ? markers, or name the markers as :name');
  }
  return {
    name,
    effect,
    cql,
    isIdempotent: effect === 'read' || idempotent,
    result,
    bind: (args) => bind({ name, spec, markers, result }, args),
  };
}

interface Bindable {
  readonly name: string;
  readonly spec: AnySpec;
  readonly markers: readonly (string | undefined)[];
  readonly result: ResultShape<unknown>;
}

function bind({ name, spec, markers, result }: Bindable, given: unknown): BoundStatement {
  const args = checked(spec.args, given, { code: 'INVALID_ARGUMENT', root: 'args', subject: name });
  const params = spec.params?.(args as never) ?? markers.map((marker) => valueOf(marker as string, args, name));
  if (params.length !== markers.length) {
    const message = `${name}: params: ${params.length} values for ${markers.length} markers`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'params' });
  }
  for (const [at, value] of params.entries()) requireWholeText(value, `args.${markers[at] ?? at}`);
  if (result.kind !== 'page') return { params, pageState: undefined, pageSize: result.pageSize };
  return { params, ...pageOf(name, given, args, result.pageSize) };
}

/** A marker without a value would silently leave a column as it is: `null` has to be said, a choice is for `params`. */
function valueOf(marker: string, args: unknown, name: string): unknown {
  const value =
    typeof args === 'object' && args !== null && Object.hasOwn(args, marker)
      ? (args as Readonly<Record<string, unknown>>)[marker]
      : undefined;
  if (value !== undefined) return value;
  const field = `args.${marker}`;
  throw new CorrectableError(
    'INVALID_ARGUMENT',
    `${name}: ${field}: give a value, or null, for the marker :${marker}`,
    {
      field,
    },
  );
}

interface PageArgs {
  readonly pageState?: unknown;
  readonly pageSize?: unknown;
}

function pageOf(name: string, given: unknown, args: unknown, sizeMax: number): Omit<BoundStatement, 'params'> {
  const asked = (given ?? {}) as PageArgs;
  const { pageState, pageSize = sizeMax } = (args ?? {}) as PageArgs;
  const wrong = (field: string, advice: string): CorrectableError =>
    new CorrectableError('INVALID_ARGUMENT', `${name}: args.${field}: ${advice}`, { field: `args.${field}` });
  // A schema may drop what it does not name: the first page would be given again and again.
  if (asked.pageState !== undefined && pageState === undefined) {
    throw wrong('pageState', 'the schema of the arguments drops it: add an optional string of this name');
  }
  if (pageState !== undefined && (typeof pageState !== 'string' || !/^([\da-f]{2})+$/i.test(pageState))) {
    throw wrong('pageState', 'give that of the page before');
  }
  if (typeof pageSize !== 'number' || !Number.isInteger(pageSize) || pageSize < 1 || pageSize > sizeMax) {
    throw wrong('pageSize', `give a whole number from 1 to ${sizeMax}`);
  }
  return { pageState, pageSize };
}
