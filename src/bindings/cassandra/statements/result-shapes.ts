/**
 * How the rows of a statement become its result. Nothing is ever cut off in silence: what is more than asked for is an
 * error, or a page that says where the next one begins.
 */
import { check, CorrectableError, isCorrectableError } from '../../../correctable/errors.ts';
import { checkOptionNames } from '../../../correctable/validate.ts';
import type { Page, Row } from '../read-strategy.ts';
import { validateWithSchema, type AnySchema, type SchemaOutput } from './standard-schema.ts';

/** Makes a value of a row: a function, or a schema that the row fits. */
export type RowMapper<T> = ((row: Row) => T) | AnySchema;

/** What a mapper gives. */
export type MappedRow<M> = M extends AnySchema ? SchemaOutput<M> : M extends (row: Row) => infer T ? T : never;

/** One page of a result that may be longer. */
export interface ResultPage<T> {
  readonly rows: T[];
  /** Hand it to the same statement as `pageState` for the next page; absent on the last one. */
  readonly pageState?: string;
}

/** How a statement's rows become its result `T`. Made by `oneRow`, `rows`, `page`, `wasApplied` and `noResult`. */
export interface ResultShape<out T> {
  readonly kind: 'oneRow' | 'rows' | 'page' | 'wasApplied' | 'noResult';
  /** Most rows that are asked for at once. */
  readonly pageSize: number;
  /** Where the version of the result stands, if anywhere. */
  readonly versionColumn: string | undefined;
  /** Makes the result of the statement called `name`. @throws CorrectableError */
  readonly buildResult: (page: Page, name: string) => T;
}

/** How the version of a result is found. */
export interface VersionOption {
  /**
   * The column with the time of writing in microseconds, for example `written` of `SELECT …, WRITETIME(refs) AS written`:
   * an older view is then known for what it is.
   */
  readonly version?: string;
}

const DEFAULT_MAX_ROWS = 5_000;
const PAGE_SIZE = 100;

/**
 * The only row, `undefined` where there is none. More than one is an error.
 *
 * @example
 * oneRow((row) => ({ name: row['name'] as string }));
 * oneRow(z.object({ name: z.string() }));
 */
export function oneRow<const M extends RowMapper<unknown>>(
  mapper: M,
  options: VersionOption = {},
): ResultShape<MappedRow<M> | undefined> {
  checkShapeArguments('oneRow', { mapper, options, name: 'version', example: "'written'" });
  const { version } = options;
  return {
    kind: 'oneRow',
    pageSize: 2,
    versionColumn: version,
    buildResult({ rows: [row, another], pageState }, name) {
      if (row === undefined) return undefined;
      if (another === undefined && pageState === undefined) return mapRow(mapper, row, name);
      throw new CorrectableError(
        'INVALID_VALUE',
        `${name}: more than one row: add LIMIT 1, or give the result as rows()`,
      );
    },
  };
}

/**
 * All rows. More than `max`, 5000 unless given, is an error: a result that can grow wants `page`.
 *
 * @example
 * rows((row) => row['ad'] as string, { max: 40 });
 */
export function rows<const M extends RowMapper<unknown>>(
  mapper: M,
  options: { readonly max?: number } = {},
): ResultShape<MappedRow<M>[]> {
  checkShapeArguments('rows', { mapper, options, name: 'max', example: '40' });
  const { max = DEFAULT_MAX_ROWS } = options;
  return {
    kind: 'rows',
    pageSize: checkCount('max', max) + 1,
    versionColumn: undefined,
    buildResult({ rows, pageState }, name) {
      if (rows.length <= max && pageState === undefined) return rows.map((row) => mapRow(mapper, row, name));
      const message = `${name}: more than ${max} rows: raise max of rows(), add a LIMIT, or give the result as page()`;
      throw new CorrectableError('INVALID_VALUE', message);
    },
  };
}

/**
 * One page, with where the next one begins. The arguments may have `pageState`, of the page before, and `pageSize`, up to
 * `size`, which is 100 unless given.
 *
 * @example
 * const { rows, pageState } = await store.invoke(posts.timeline({ user: 'ada' }));
 * if (pageState !== undefined) await store.invoke(posts.timeline({ user: 'ada', pageState }));
 */
export function page<const M extends RowMapper<unknown>>(
  mapper: M,
  options: { readonly size?: number } = {},
): ResultShape<ResultPage<MappedRow<M>>> {
  checkShapeArguments('page', { mapper, options, name: 'size', example: '20' });
  const { size = PAGE_SIZE } = options;
  return {
    kind: 'page',
    pageSize: checkCount('size', size),
    versionColumn: undefined,
    buildResult: ({ rows, pageState }, name) => ({
      rows: rows.map((row) => mapRow(mapper, row, name)),
      ...(pageState !== undefined && { pageState }),
    }),
  };
}

/**
 * Of a conditional update (`IF …`): whether it was made.
 *
 * @example
 * implement: { cql: 'INSERT INTO users (name) VALUES (:name) IF NOT EXISTS', result: wasApplied() }
 */
export function wasApplied(): ResultShape<boolean> {
  return {
    kind: 'wasApplied',
    pageSize: PAGE_SIZE,
    versionColumn: undefined,
    buildResult({ rows: [row] }, name) {
      const isApplied = row?.['[applied]'];
      if (typeof isApplied === 'boolean') return isApplied;
      throw new CorrectableError(
        'INVALID_VALUE',
        `${name}: wasApplied() is for updates with IF, and this one has none`,
      );
    },
  };
}

/** Nothing: what updates give unless told otherwise. */
export function noResult(): ResultShape<void> {
  return { kind: 'noResult', pageSize: PAGE_SIZE, versionColumn: undefined, buildResult: () => undefined };
}

/** What was given to `shape`, which has one option: `name`. */
interface ShapeArguments {
  readonly mapper: unknown;
  readonly options: unknown;
  readonly name: string;
  readonly example: string;
}

function checkShapeArguments(shape: string, { mapper, options, name, example }: ShapeArguments): void {
  const call = `${shape}((row) => row['name'], { ${name}: ${example} })`;
  const isSchema = typeof mapper === 'object' && mapper !== null && '~standard' in mapper;
  check(isSchema || typeof mapper === 'function', 'mapper', `must be a function of a row, or a schema: write ${call}`);
  checkOptionNames(options, { call }, { [name]: true });
}

function mapRow<M extends RowMapper<unknown>>(mapper: M, row: Row, name: string): MappedRow<M> {
  if (typeof mapper !== 'function') {
    return validateWithSchema(mapper, row, { code: 'INVALID_VALUE', root: 'row', subject: name }) as MappedRow<M>;
  }
  try {
    return mapper(row) as MappedRow<M>;
  } catch (cause) {
    if (isCorrectableError(cause)) throw cause;
    throw new CorrectableError('INVALID_VALUE', `${name}: the row mapper failed: ${String(cause)}`, { cause });
  }
}

function checkCount(field: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value;
  throw new CorrectableError('INVALID_ARGUMENT', `${field}: give an integer above 0`, { field });
}
