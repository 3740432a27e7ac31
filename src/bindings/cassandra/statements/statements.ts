/**
 * The application's prepared statements as named operations. Only the author of
 * the binding writes CQL.
 */
import {
  check,
  CorrectableError,
  createInvalidArgumentError,
} from '../../../correctable/errors.ts';
import {
  checkOptionTypes,
  checkMemberName,
  checkOptionNames,
  checkRecord,
  hasMethods,
  isNonEmptyString,
  isRecord,
  type OptionNamesOf,
} from '../../../correctable/validate.ts';
import type { Access, Operation } from '../../../correctable/operation.ts';
import { checkWellFormed } from '../../shared/well-formed-text.ts';
import { findBindMarkers, isConditional, isSelect } from './cql-text.ts';
import { noResult, type ResultShape } from './result-shapes.ts';
import {
  validateWithSchema,
  type AnySchema,
  type SchemaInput,
  type SchemaOutput,
} from './standard-schema.ts';

/** How a statement is executed. */
export interface StatementText<Args, R> {
  /**
   * The CQL text. Named markers (`:user`) stand for the arguments of these
   * names. Markers `?` require `params`.
   */
  readonly cql: string;
  /** Converts rows to the result. Required for reads. */
  readonly result?: ResultShape<R> | undefined;
  /**
   * Returns a value for each marker, in their order. Default: the arguments
   * with the markers' names.
   */
  params?(args: Args): readonly unknown[];
  /**
   * Whether a write may be resent if its outcome is unknown. Not for counters,
   * lists that grow, `now()` and conditions. Default: `false`. Reads may always
   * be resent.
   */
  readonly isIdempotent?: boolean | undefined;
}

/** One statement: its interface for callers, and how it is executed. */
export interface StatementSpec<
  A extends AnySchema = AnySchema,
  R = unknown,
> extends StatementText<SchemaOutput<A>, R> {
  readonly access: Access;
  /**
   * The arguments: a schema of zod, valibot or another library with the
   * Standard Schema interface.
   */
  readonly args: A;
  /**
   * Returns the object that the operation acts on: used for routing, caching
   * and ordering.
   */
  key?(args: SchemaInput<A>): string;
  /**
   * Returns whether two results mean the same to the application. Default:
   * structural equality.
   */
  equals?(a: R, b: R): boolean;
}

/** A checked statement, ready to execute. */
export interface Statement {
  readonly name: string;
  readonly access: Access;
  readonly cql: string;
  readonly isIdempotent: boolean;
  readonly result: ResultShape<unknown>;
  /**
   * Returns checked arguments and marker values. @throws CorrectableError
   * `INVALID_ARGUMENT` if they do not fit
   */
  readonly bind: (args: unknown) => BoundStatement;
}

/** The values for the markers of one call, and its page. */
export interface BoundStatement {
  readonly params: readonly unknown[];
  readonly pageState: string | undefined;
  readonly pageSize: number;
}

const STATEMENTS_KEY: unique symbol = Symbol.for(
  'correctables.cassandra.statements',
);

/** A catalog of statements, to pass to a binding. */
export interface Statements {
  readonly [STATEMENTS_KEY]: readonly Statement[];
}

export function getStatements(statements: Statements): readonly Statement[] {
  const list: readonly Statement[] | undefined = (
    statements as Statements | null | undefined
  )?.[STATEMENTS_KEY];
  if (list !== undefined) return list;
  throw createInvalidArgumentError(
    'statements',
    'give what defineStatements or implementStatements made',
  );
}

/** A typed builder for each statement: `ads.profile({ user })`. */
export type StatementBuilders<S extends AnySpecs> = {
  readonly [K in keyof S]: (
    args: SchemaInput<S[K]['args']>,
  ) => Operation<ResultOfSpec<S[K]>>;
};

type ResultOfSpec<S> = 'result' extends keyof S
  ? S extends { readonly result?: ResultShape<infer R> | undefined }
    ? R
    : void
  : void;

/** Any statement, without the types of its arguments and result. */
export interface AnySpec {
  readonly access: Access;
  readonly cql: string;
  readonly args: AnySchema;
  readonly result?: ResultShape<unknown> | undefined;
  readonly isIdempotent?: boolean | undefined;
  params?(args: never): readonly unknown[];
  key?(args: never): string;
  equals?(a: never, b: never): boolean;
}

/** Statements by name. */
export type AnySpecs = Readonly<Record<string, AnySpec>>;

/**
 * Returns a statement with inferred types: `params`, `key` and `equals` get
 * theirs from the schema and the result.
 *
 * @example
 * const profile = statement({
 *   access: 'read',
 *   cql: 'SELECT refs, WRITETIME(refs) AS written FROM profiles WHERE user = :user',
 *   args: z.object({ user: z.string() }),
 *   result: oneRow((row) => row['refs'] as string[], { version: 'written' }),
 * });
 */
export function statement<A extends AnySchema, R>(
  spec: SpecWithResult<A, R>,
): SpecWithResult<A, R>;
export function statement<A extends AnySchema>(
  spec: StatementSpec<A, void>,
): StatementSpec<A, void>;
export function statement(spec: AnySpec): AnySpec {
  checkSpec('spec', spec);
  return spec;
}

type SpecWithResult<A extends AnySchema, R> = StatementSpec<A, R> & {
  readonly result: ResultShape<R>;
};

/**
 * Creates a catalog of statements with a typed builder for each.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the statement and the
 * invalid field
 * @example
 * const ads = defineStatements({
 *   profile: {
 *     access: 'read',
 *     cql: 'SELECT refs FROM profiles WHERE user = :user',
 *     args: z.object({ user: z.string() }),
 *     result: oneRow((row) => row['refs'] as string[]),
 *   },
 * });
 * const store = createClient(
 *   cassandra({
 *     contactPoints: ['frankfurt:9042'],
 *     keyspace: 'ads',
 *     statements: ads,
 *   }),
 * );
 * const refs = await store.invoke(ads.profile({ user: 'ada' })); // string[] | undefined
 */
export function defineStatements<const S extends AnySpecs>(
  specs: S,
): StatementBuilders<S> & Statements {
  checkRecord(specs, {
    call: `defineStatements({ profile: ${SPEC_EXAMPLE} })`,
    field: 'statements',
  });
  const builders: Record<string, unknown> = {};
  const list: Statement[] = [];
  for (const [name, spec] of Object.entries(specs)) {
    checkMemberName(name, `statements.${name}`);
    const { access, key, equals } = spec;
    list.push(createStatement(name, spec));
    builders[name] = (args: never): Operation => ({
      name,
      args,
      access,
      ...(key !== undefined && { key: key(args) }),
      ...(equals !== undefined && { equals }),
    });
  }
  return Object.assign(builders, {
    [STATEMENTS_KEY]: list,
  }) as unknown as StatementBuilders<S> & Statements;
}

/**
 * The part of a service contract that statements need, as `defineContract`
 * returns it.
 */
export interface ContractLike {
  readonly operations: Readonly<
    Record<
      string,
      {
        readonly access: Access;
        readonly args: AnySchema;
        readonly result: AnySchema;
      }
    >
  >;
}

/**
 * The implementation of each operation of a contract. Portable operations are
 * built in.
 */
export type Implementations<C extends ContractLike> = {
  readonly [
    K in Exclude<keyof C['operations'], 'get' | 'put' | 'getMany'>
  ]: StatementText<
    SchemaOutput<C['operations'][K]['args']>,
    SchemaOutput<C['operations'][K]['result']>
  >;
};

/**
 * Creates the statements behind a contract. Pages and other clients share the
 * contract, and name its operations. The statements stay on the server that
 * hosts the binding.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the statement and the
 * invalid field
 * @example
 * const statements = implementStatements(contract, {
 *   profile: {
 *     cql: 'SELECT refs FROM profiles WHERE user = :user',
 *     result: oneRow((row) => row['refs'] as string[]),
 *   },
 * });
 */
export function implementStatements<C extends ContractLike>(
  contract: C,
  implementations: Implementations<C>,
): Statements {
  const call = 'implementStatements(contract, { profile: { cql, result } })';
  const isContract = isRecord(contract) && isRecord(contract.operations);
  check(
    isContract,
    'contract',
    `must be one made by defineContract: write ${call}`,
  );
  checkRecord(implementations, { call, field: 'implementations' });
  const { operations } = contract;
  const list = Object.entries<Omit<AnySpec, 'access' | 'args'>>(
    implementations,
  ).map(([name, text]) => {
    const { access, args } = operations[name] ?? {};
    if (access === undefined || args === undefined)
      throw createInvalidArgumentError(
        name,
        'the contract has no such operation',
      );
    checkRecord(text, { call: '{ cql, result }', field: name });
    return createStatement(name, { ...text, access, args });
  });
  const built = new Set([
    'get',
    'put',
    'getMany',
    ...list.map(({ name }) => name),
  ]);
  const missing = Object.keys(operations).find((name) => !built.has(name));
  if (missing !== undefined)
    throw createInvalidArgumentError(
      missing,
      'give the statement for this operation of the contract',
    );
  return { [STATEMENTS_KEY]: list };
}

const SPEC_EXAMPLE =
  "{ access: 'read', cql: 'SELECT …', args: z.object({ … }), result: oneRow(…) }";

const SPEC_FIELDS: OptionNamesOf<AnySpec> = {
  access: true,
  cql: true,
  args: true,
  result: true,
  isIdempotent: true,
  params: true,
  key: true,
  equals: true,
};

/** Checks a statement without reading its text. */
function checkSpec(name: string, value: unknown): void {
  checkOptionNames(value, { call: SPEC_EXAMPLE, field: name }, SPEC_FIELDS);
  const spec = value as Readonly<Record<string, unknown>>;
  const { access, cql, args, result } = spec;
  check(
    access === 'read' || access === 'write',
    `${name}.access`,
    "must be 'read' or 'write'",
  );
  check(
    isNonEmptyString(cql),
    `${name}.cql`,
    'must be the text of a statement',
  );
  const isSchema =
    (typeof args === 'object' || typeof args === 'function') &&
    args !== null &&
    '~standard' in args;
  check(
    isSchema,
    `${name}.args`,
    'must be a schema, as z.object({ user: z.string() })',
  );
  check(
    result === undefined || hasMethods(result, 'buildResult'),
    `${name}.result`,
    'must be made by oneRow, rows, page, wasApplied',
  );
  checkOptionTypes(spec, 'function', 'params', 'key', 'equals');
  checkOptionTypes(spec, 'boolean', 'isIdempotent');
}

function createStatement(name: string, spec: AnySpec): Statement {
  checkSpec(name, spec);
  const { cql, access, isIdempotent = false } = spec;
  if (access === 'read' && !isSelect(cql))
    throw createInvalidArgumentError(
      `${name}.access`,
      "a statement that is no SELECT is a 'write'",
    );
  if (access === 'write' && isSelect(cql))
    throw createInvalidArgumentError(`${name}.access`, "a SELECT is a 'read'");
  const result = spec.result ?? noResult();
  if (
    access === 'read' &&
    (result.kind === 'noResult' || result.kind === 'wasApplied')
  ) {
    throw createInvalidArgumentError(
      `${name}.result`,
      'say how rows become the result: oneRow(), rows() or page()',
    );
  }
  const isMisplaced = result.kind === 'wasApplied' && !isConditional(cql);
  check(
    !isMisplaced,
    `${name}.result`,
    'wasApplied() is for writes with IF: without one the write is always made',
  );
  const markers = findBindMarkers(cql);
  const isComplete = spec.params !== undefined || !markers.includes(undefined);
  check(
    isComplete,
    `${name}.params`,
    'give the values for the ? markers, or name the markers as :name',
  );
  return {
    name,
    access,
    cql,
    isIdempotent: access === 'read' || isIdempotent,
    result,
    bind: (args) => bindArgs({ name, spec, markers, result }, args),
  };
}

interface BindContext {
  readonly name: string;
  readonly spec: AnySpec;
  readonly markers: readonly (string | undefined)[];
  readonly result: ResultShape<unknown>;
}

function bindArgs(
  { name, spec, markers, result }: BindContext,
  input: unknown,
): BoundStatement {
  const args = validateWithSchema(spec.args, input, {
    code: 'INVALID_ARGUMENT',
    root: 'args',
    subject: name,
  });
  const params =
    spec.params?.(args as never) ??
    markers.map((marker) => getMarkerValue(marker as string, args, name));
  if (params.length !== markers.length) {
    const message = `${name}: params: ${params.length} values for ${markers.length} markers`;
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'params',
    });
  }
  for (const [at, value] of params.entries())
    checkWellFormed(value, `args.${markers[at] ?? at}`);
  if (result.kind !== 'page')
    return { params, pageState: undefined, pageSize: result.pageSize };
  return { params, ...readPageArgs(name, input, args, result.pageSize) };
}

/**
 * Returns the value of a marker. A missing value would leave a column unchanged
 * in silence, so `null` has to be explicit. `params` can choose.
 */
function getMarkerValue(marker: string, args: unknown, name: string): unknown {
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

function readPageArgs(
  name: string,
  value: unknown,
  args: unknown,
  maxSize: number,
): Omit<BoundStatement, 'params'> {
  const requested = (value ?? {}) as PageArgs;
  const { pageState, pageSize = maxSize } = (args ?? {}) as PageArgs;
  const wrong = (field: string, advice: string): CorrectableError =>
    new CorrectableError(
      'INVALID_ARGUMENT',
      `${name}: args.${field}: ${advice}`,
      {
        field: `args.${field}`,
      },
    );
  // A schema may drop fields that it does not name. Then the first page would
  // be returned again and again.
  if (requested.pageState !== undefined && pageState === undefined) {
    throw wrong(
      'pageState',
      'the schema of the arguments drops it: add an optional string of this name',
    );
  }
  if (
    pageState !== undefined &&
    (typeof pageState !== 'string' || !/^([\da-f]{2})+$/i.test(pageState))
  ) {
    throw wrong('pageState', 'give that of the page before');
  }
  if (
    typeof pageSize !== 'number' ||
    !Number.isInteger(pageSize) ||
    pageSize < 1 ||
    pageSize > maxSize
  ) {
    throw wrong('pageSize', `give an integer from 1 to ${maxSize}`);
  }
  return { pageState, pageSize };
}
