/**
 * The application's prepared statements as named operations. The text of a statement comes only
 * from the author of the program, never from a client.
 */
import { check, createInvalidArgumentError } from '../../../correctable/errors.ts';
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
import { findBindMarkers, isConditional, isSelect } from './cql-text.ts';

/** The CQL of a statement. */
interface CqlText {
  /**
   * The CQL text. Named markers (`:user`) stand for the arguments of these names. Markers `?`
   * require `params`.
   */
  readonly cql: string;
}

/** How a statement is executed. */
export interface StatementText<Args, R> extends CqlText, StatementOptions<Args, R> {}

/** One statement: its interface for callers, and how it is executed. */
export interface StatementSpec<A extends AnySchema = AnySchema, R = unknown>
  extends CqlText, StatementCore<A, R> {}

/** A checked statement, ready to execute. */
export interface Statement extends Omit<CheckedStatement, 'text'> {
  readonly cql: string;
}

const STATEMENTS_KEY: unique symbol = Symbol.for('correctables.cassandra.statements');

/** A catalog of statements, to pass to a binding. */
export interface Statements {
  readonly [STATEMENTS_KEY]: readonly Statement[];
}

export function getStatements(option: Statements | readonly Statements[]): readonly Statement[] {
  return collectStatements(option, STATEMENTS_KEY);
}

/** Any statement, without the types of its arguments and result. */
export interface AnySpec extends AnyCore {
  readonly cql: string;
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
 *   cql: 'SELECT refs, WRITETIME(refs) AS written FROM profiles WHERE user = :user',
 *   args: z.object({ user: z.string() }),
 *   result: oneRow((row) => row['refs'] as string[], { version: 'written' }),
 * });
 */
export function statement<A extends AnySchema, R>(spec: SpecWithResult<A, R>): SpecWithResult<A, R>;
export function statement<A extends AnySchema>(
  spec: StatementSpec<A, void>,
): StatementSpec<A, void>;
export function statement(spec: AnySpec): AnySpec {
  checkSpec(CQL, 'spec', spec);
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
  const { builders, list } = createCatalog(CQL, specs);
  return Object.assign(builders, toStatements(list)) as unknown as StatementBuilders<S> &
    Statements;
}

/** The implementation of each operation of a contract. Portable operations are built in. */
export type Implementations<C extends ContractLike> = {
  readonly [K in Exclude<keyof C['operations'], 'get' | 'put' | 'getMany'>]: StatementText<
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
  return toStatements(implementCatalog(CQL, contract, implementations));
}

function toStatements(list: readonly CheckedStatement[]): Statements {
  return {
    [STATEMENTS_KEY]: list.map(({ text, ...others }) => ({
      ...others,
      cql: text,
    })),
  };
}

const CQL: StatementLanguage = {
  textField: 'cql',
  example: "{ access: 'read', cql: 'SELECT …', args: z.object({ … }), result: oneRow(…) }",
  shapes: 'oneRow, rows, page, wasApplied',
  readShapes: 'oneRow(), rows() or page()',
  implementCall: 'implementStatements(contract, { profile: { cql, result } })',
  builtIn: ['get', 'put', 'getMany'],
  parse: (text) => ({ text, markers: findBindMarkers(text) }),
  positionalMarker: '?',
  checkText: checkCql,
};

function checkCql(
  name: string,
  cql: string,
  { access, result }: Parameters<NonNullable<StatementLanguage['checkText']>>[2],
): void {
  if (access === 'read' && !isSelect(cql))
    throw createInvalidArgumentError(
      `${name}.access`,
      "a statement that is no SELECT is a 'write'",
    );
  if (access === 'write' && isSelect(cql))
    throw createInvalidArgumentError(`${name}.access`, "a SELECT is a 'read'");
  const isMisplaced = result.kind === 'wasApplied' && !isConditional(cql);
  check(
    !isMisplaced,
    `${name}.result`,
    'wasApplied() is for writes with IF: without one the write is always made',
  );
}
