/**
 * The application's SQL statements as named operations. Only the author of the binding writes SQL.
 */
import type { ResultShape } from '../../shared/statements/result-shapes.ts';
import type { AnySchema, SchemaOutput } from '../../shared/statements/standard-schema.ts';
import {
  checkSpec,
  collectStatements,
  createCatalog,
  implementCatalog,
  type AnyCore,
  type CheckedStatement,
  type ContractLike,
  type StatementBuilders,
  type StatementCore,
  type StatementLanguage,
  type StatementOptions,
} from '../../shared/statements/statement-catalog.ts';
import { checkSendable } from './sendable-values.ts';
import { parseSql } from './sql-text.ts';

/** The SQL of a statement. */
interface SqlText {
  /**
   * The SQL text. Named markers (`:user`) stand for the arguments of these names. Markers `$1`
   * require `params`.
   */
  readonly sql: string;
}

/** How a statement is executed. */
export interface StatementText<Args, R> extends SqlText, StatementOptions<Args, R> {}

/** One statement: its interface for callers, and how it is executed. */
export interface StatementSpec<A extends AnySchema = AnySchema, R = unknown>
  extends SqlText, StatementCore<A, R> {}

const STATEMENTS_KEY: unique symbol = Symbol.for('correctables.postgres.statements');

/** A catalog of statements, to pass to a binding. */
export interface Statements {
  readonly [STATEMENTS_KEY]: readonly CheckedStatement[];
}

export function getStatements(
  option: Statements | readonly Statements[],
): readonly CheckedStatement[] {
  return collectStatements(option, STATEMENTS_KEY);
}

/** Any statement, without the types of its arguments and result. */
export interface AnySpec extends AnyCore {
  readonly sql: string;
}

/** Statements by name. */
export type AnySpecs = Readonly<Record<string, AnySpec>>;

/**
 * Returns a statement with inferred types: `params`, `key` and `equals` get theirs from the schema
 * and the result.
 *
 * @example
 * const profile = statement({
 *   access: 'read',
 *   sql: 'select name from users where id = :id',
 *   args: z.object({ id: z.number() }),
 *   result: oneRow((row) => row['name'] as string),
 * });
 */
export function statement<A extends AnySchema, R>(spec: SpecWithResult<A, R>): SpecWithResult<A, R>;
export function statement<A extends AnySchema>(
  spec: StatementSpec<A, void>,
): StatementSpec<A, void>;
export function statement(spec: AnySpec): AnySpec {
  checkSpec(SQL, 'spec', spec);
  return spec;
}

type SpecWithResult<A extends AnySchema, R> = StatementSpec<A, R> & {
  readonly result: ResultShape<R>;
};

/**
 * Creates a catalog of statements with a typed builder for each.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the statement and the invalid field
 * @example
 * const blog = defineStatements({
 *   title: {
 *     access: 'read',
 *     sql: 'select title from posts where id = :id',
 *     args: z.object({ id: z.number() }),
 *     result: oneRow((row) => row['title'] as string),
 *   },
 * });
 * const store = createClient(postgres({ primary, replicas, statements: blog }));
 * const title = await store.invoke(blog.title({ id: 7 })); // string | undefined
 */
export function defineStatements<const S extends AnySpecs>(
  specs: S,
): StatementBuilders<S> & Statements {
  const { builders, list } = createCatalog(SQL, specs);
  return Object.assign(builders, {
    [STATEMENTS_KEY]: list,
  }) as unknown as StatementBuilders<S> & Statements;
}

/** Operations that the binding has without a statement. */
const BUILT_IN = [
  'get',
  'getMany',
  'readVersions',
  'commit',
  'put',
  'remove',
  'peek',
  'enqueue',
  'dequeue',
] as const;

/** The implementation of each operation of a contract. Portable operations are built in. */
export type Implementations<C extends ContractLike> = {
  readonly [K in Exclude<keyof C['operations'], (typeof BUILT_IN)[number]>]: StatementText<
    SchemaOutput<C['operations'][K]['args']>,
    SchemaOutput<C['operations'][K]['result']>
  >;
};

/**
 * Creates the statements behind a contract. Pages and other clients share the contract, and name
 * its operations. The statements stay on the server that hosts the binding.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the statement and the invalid field
 * @example
 * const statements = implementStatements(contract, {
 *   title: {
 *     sql: 'select title from posts where id = :id',
 *     result: oneRow((row) => row['title'] as string),
 *   },
 * });
 */
export function implementStatements<C extends ContractLike>(
  contract: C,
  implementations: Implementations<C>,
): Statements {
  return { [STATEMENTS_KEY]: implementCatalog(SQL, contract, implementations) };
}

const SQL: StatementLanguage = {
  textField: 'sql',
  example: "{ access: 'read', sql: 'select …', args: z.object({ … }), result: oneRow(…) }",
  shapes: 'oneRow, rows, wasApplied',
  readShapes: 'oneRow() or rows()',
  implementCall: 'implementStatements(contract, { profile: { sql, result } })',
  builtIn: BUILT_IN,
  parse: parseSql,
  positionalMarker: '$1',
  checkValue: checkSendable,
  // A read that changes data is refused by the server, which runs it read-only.
};
