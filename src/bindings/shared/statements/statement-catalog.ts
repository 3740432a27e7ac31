/**
 * The application's statements as named operations, whatever the language of the store. The text of
 * a statement comes only from the author of the program, never from a client.
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
} from '../../../correctable/validate.ts';
import type { Access, Operation } from '../../../correctable/operation.ts';
import { checkWellFormed } from '../well-formed-text.ts';
import { noResult, type ResultShape } from './result-shapes.ts';
import {
  validateWithSchema,
  type AnySchema,
  type SchemaInput,
  type SchemaOutput,
} from './standard-schema.ts';

/** Options of a statement: how it is executed. */
export interface StatementOptions<Args, R> {
  /** Converts rows to the result. Required for reads. */
  readonly result?: ResultShape<R> | undefined;
  /**
   * Returns a value for each marker, in their order. Default: the arguments with the markers'
   * names.
   */
  params?(args: Args): readonly unknown[];
  /**
   * Whether a write may be resent if its outcome is unknown. Not for counters, lists that grow, the
   * time of day and conditions. Default: `false`. Reads may always be resent.
   */
  readonly isIdempotent?: boolean | undefined;
}

/** One statement, beside its text. */
export interface StatementCore<
  A extends AnySchema = AnySchema,
  R = unknown,
> extends StatementOptions<SchemaOutput<A>, R> {
  readonly access: Access;
  /**
   * The arguments: a schema of zod, valibot or another library with the Standard Schema interface.
   */
  readonly args: A;
  /** Returns the object that the operation acts on: used for routing, caching and ordering. */
  key?(args: SchemaInput<A>): string;
  /** Returns whether two results mean the same to the application. Default: structural equality. */
  equals?(a: R, b: R): boolean;
}

/** Any statement, without its text, and the types of arguments and result. */
export interface AnyCore {
  readonly access: Access;
  readonly args: AnySchema;
  readonly result?: ResultShape<unknown> | undefined;
  readonly isIdempotent?: boolean | undefined;
  params?(args: never): readonly unknown[];
  key?(args: never): string;
  equals?(a: never, b: never): boolean;
}

/** A checked statement, ready to execute. */
export interface CheckedStatement {
  readonly name: string;
  readonly access: Access;
  /** The text for the store. */
  readonly text: string;
  readonly isIdempotent: boolean;
  readonly result: ResultShape<unknown>;
  /**
   * Returns checked arguments and marker values. @throws CorrectableError `INVALID_ARGUMENT` if
   * they do not fit
   */
  readonly bind: (args: unknown) => BoundStatement;
}

/** The values for the markers of one call, and its page. */
export interface BoundStatement {
  readonly params: readonly unknown[];
  readonly pageState: string | undefined;
  readonly pageSize: number;
}

/** A typed builder for each statement: `ads.profile({ user })`. */
export type StatementBuilders<S extends Readonly<Record<string, AnyCore>>> = {
  readonly [K in keyof S]: (args: SchemaInput<S[K]['args']>) => Operation<ResultOfSpec<S[K]>>;
};

type ResultOfSpec<S> = 'result' extends keyof S
  ? S extends { readonly result?: ResultShape<infer R> | undefined }
    ? R
    : void
  : void;

/** The language of a store. */
export interface StatementLanguage {
  /** The field of a statement with its text. */
  readonly textField: 'cql' | 'sql';
  /** A correct statement, for messages. */
  readonly example: string;
  /** What makes a `result`, for messages. */
  readonly shapes: string;
  /** What makes the `result` of a read, for messages. */
  readonly readShapes: string;
  /** A correct call that implements a contract, for messages. */
  readonly implementCall: string;
  /** Operations that the binding has in any case. */
  readonly builtIn: readonly string[];
  /**
   * Returns the text for the store, and the names of its markers in order; `undefined` for a marker
   * without a name.
   */
  readonly parse: (text: string) => ParsedText;
  /** A marker without a name, for messages. */
  readonly positionalMarker: string;
  /**
   * Checks a value before anything is sent. Default: every value can be sent
   *
   * @throws CorrectableError `INVALID_ARGUMENT` that names `field`
   */
  readonly checkValue?: (value: unknown, field: string) => void;
  /**
   * Checks a text by itself. Default: the server checks it
   *
   * @throws CorrectableError `INVALID_ARGUMENT` if the access or the result do not fit the text
   */
  readonly checkText?: (
    name: string,
    text: string,
    spec: {
      readonly access: AnyCore['access'];
      readonly result: ResultShape<unknown>;
    },
  ) => void;
}

export interface ParsedText {
  readonly text: string;
  readonly markers: readonly (string | undefined)[];
}

export interface Catalog {
  readonly builders: Readonly<Record<string, unknown>>;
  readonly list: readonly CheckedStatement[];
}

type SpecsByName = Readonly<Record<string, object>>;

/** @throws CorrectableError `INVALID_ARGUMENT` naming the invalid field */
export function createCatalog(language: StatementLanguage, specs: SpecsByName): Catalog {
  checkRecord(specs, {
    call: `defineStatements({ profile: ${language.example} })`,
    field: 'statements',
  });
  const builders: Record<string, unknown> = {};
  const list: CheckedStatement[] = [];
  for (const [name, spec] of Object.entries(specs)) {
    checkMemberName(name, `statements.${name}`);
    const { access, key, equals } = spec as AnyCore;
    list.push(createStatement(language, name, spec as AnyCore));
    builders[name] = (args: never): Operation => ({
      name,
      args,
      access,
      ...(key !== undefined && { key: key(args) }),
      ...(equals !== undefined && { equals }),
    });
  }
  return { builders, list };
}

/** The part of a service contract that statements need, as `defineContract` returns it. */
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

/** @throws CorrectableError `INVALID_ARGUMENT` naming the invalid field */
export function implementCatalog(
  language: StatementLanguage,
  contract: ContractLike,
  implementations: SpecsByName,
): readonly CheckedStatement[] {
  const call = language.implementCall;
  const isContract = isRecord(contract) && isRecord(contract.operations);
  check(isContract, 'contract', `must be one made by defineContract: write ${call}`);
  checkRecord(implementations, { call, field: 'implementations' });
  const { operations } = contract;
  const list = Object.entries(implementations).map(([name, text]) => {
    const { access, args } = operations[name] ?? {};
    if (access === undefined || args === undefined)
      throw createInvalidArgumentError(name, 'the contract has no such operation');
    checkRecord(text, {
      call: `{ ${language.textField}, result }`,
      field: name,
    });
    return createStatement(language, name, { ...text, access, args });
  });
  const built = new Set([...language.builtIn, ...list.map(({ name }) => name)]);
  const missing = Object.keys(operations).find((name) => !built.has(name));
  if (missing !== undefined)
    throw createInvalidArgumentError(
      missing,
      'give the statement for this operation of the contract',
    );
  return list;
}

/**
 * Returns the statements of the catalogs in the option `statements`.
 *
 * @param option a catalog, or a list of them
 * @param key the member of a catalog that has its statements
 * @throws CorrectableError `INVALID_ARGUMENT` for what is no catalog
 */
export function collectStatements<S>(option: unknown, key: symbol): readonly S[] {
  const catalogs: readonly unknown[] = Array.isArray(option) ? option : [option];
  return catalogs.flatMap((catalog) => {
    const list = (catalog as Readonly<Record<symbol, readonly S[]>> | null)?.[key];
    if (list !== undefined) return list;
    throw createInvalidArgumentError(
      'statements',
      'give what defineStatements or implementStatements made',
    );
  });
}

const CORE_FIELDS: Readonly<Record<keyof AnyCore, true>> = {
  access: true,
  args: true,
  result: true,
  isIdempotent: true,
  params: true,
  key: true,
  equals: true,
};

/** Checks a statement without reading its text. */
export function checkSpec(
  { textField, example, shapes }: StatementLanguage,
  name: string,
  value: unknown,
): void {
  const fields = { ...CORE_FIELDS, [textField]: true as const };
  checkOptionNames(value, { call: example, field: name }, fields);
  const spec = value as Readonly<Record<string, unknown>>;
  const { access, args, result } = spec;
  check(access === 'read' || access === 'write', `${name}.access`, "must be 'read' or 'write'");
  check(
    isNonEmptyString(spec[textField]),
    `${name}.${textField}`,
    'must be the text of a statement',
  );
  const isSchema =
    (typeof args === 'object' || typeof args === 'function') &&
    args !== null &&
    '~standard' in args;
  check(isSchema, `${name}.args`, 'must be a schema, as z.object({ user: z.string() })');
  check(
    result === undefined || hasMethods(result, 'buildResult'),
    `${name}.result`,
    `must be made by ${shapes}`,
  );
  checkOptionTypes(spec, 'function', 'params', 'key', 'equals');
  checkOptionTypes(spec, 'boolean', 'isIdempotent');
}

function createStatement(
  language: StatementLanguage,
  name: string,
  spec: AnyCore,
): CheckedStatement {
  checkSpec(language, name, spec);
  const { access, isIdempotent = false } = spec;
  const { checkValue = () => {} } = language;
  const written = (spec as unknown as Readonly<Record<string, string>>)[
    language.textField
  ] as string;
  const result = spec.result ?? noResult();
  language.checkText?.(name, written, { access, result });
  const hasRows = result.kind !== 'noResult' && result.kind !== 'wasApplied';
  check(
    access === 'write' || hasRows,
    `${name}.result`,
    `say how rows become the result: ${language.readShapes}`,
  );
  const { text, markers } = language.parse(written);
  const isComplete = spec.params !== undefined || !markers.includes(undefined);
  check(
    isComplete,
    `${name}.params`,
    `give the values for the ${language.positionalMarker} markers, or name the markers as :name`,
  );
  return {
    name,
    access,
    text,
    isIdempotent: access === 'read' || isIdempotent,
    result,
    bind: (args) => bindArgs({ name, spec, markers, result, checkValue }, args),
  };
}

interface BindContext {
  readonly name: string;
  readonly spec: AnyCore;
  readonly markers: readonly (string | undefined)[];
  readonly result: ResultShape<unknown>;
  readonly checkValue: NonNullable<StatementLanguage['checkValue']>;
}

function bindArgs(
  { name, spec, markers, result, checkValue }: BindContext,
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
  for (const [at, value] of params.entries()) {
    const field = `args.${markers[at] ?? at}`;
    checkWellFormed(value, field);
    checkValue(value, field);
  }
  if (result.kind !== 'page') return { params, pageState: undefined, pageSize: result.pageSize };
  return { params, ...readPageArgs(name, input, args, result.pageSize) };
}

/**
 * Returns the value of a marker. A missing value would leave a column unchanged in silence, so
 * `null` has to be explicit. `params` can choose.
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
    new CorrectableError('INVALID_ARGUMENT', `${name}: args.${field}: ${advice}`, {
      field: `args.${field}`,
    });
  // A schema may drop fields that it does not name. Then the first page would be returned again and
  // again.
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
