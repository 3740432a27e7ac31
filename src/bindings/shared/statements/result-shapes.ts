/**
 * Converts the rows of a statement to its result. If there are more rows than `oneRow` or `rows`
 * allows, it fails and returns no shortened result. `page` returns them page by page.
 */
import { check, CorrectableError, isCorrectableError } from '../../../correctable/errors.ts';
import { checkCount } from '../check-number.ts';
import { checkOptionNames } from '../../../correctable/validate.ts';
import type { Page, Row } from './page.ts';
import { validateWithSchema, type AnySchema, type SchemaOutput } from './standard-schema.ts';

/** Converts a row to a value: a function, or a schema that the row fits. */
export type RowMapper<T> = ((row: Row) => T) | AnySchema;

/** The type of the values that a mapper returns. */
export type MappedRow<M> = M extends AnySchema
  ? SchemaOutput<M>
  : M extends (row: Row) => infer T
    ? T
    : never;

/** One page of a result that may be longer. */
export interface ResultPage<T> {
  readonly rows: T[];
  /** Pass it to the same statement as `pageState` to get the next page. Absent on the last page. */
  readonly pageState?: string;
}

/**
 * Converts a statement's rows to its result `T`. Made by `oneRow`, `rows`, `page`, `wasApplied` and
 * `noResult`.
 */
export interface ResultShape<out T> {
  readonly kind: 'oneRow' | 'rows' | 'page' | 'wasApplied' | 'noResult';
  /** Maximum number of rows in one request. */
  readonly pageSize: number;
  /** The column with the version of the result, if any. */
  readonly versionColumn: string | undefined;
  /**
   * Returns the result of the statement called `name`. @throws CorrectableError if the rows do not
   * fit
   */
  readonly buildResult: (page: Page, name: string) => T;
}

/** The option that selects the version of a result. */
export interface VersionOption {
  /**
   * The column with the time of the write in microseconds, for example `written` of `SELECT …,
   * WRITETIME(refs) AS written`. It lets the binding detect older views.
   */
  readonly version?: string;
}

const DEFAULT_MAX_ROWS = 5_000;
/** The default page size. Statements without rows use it too. */
export const PAGE_SIZE = 100;

/**
 * Returns the shape whose result is the only row, `undefined` if none. More than one fails with
 * `INVALID_VALUE`.
 *
 * @example
 * oneRow((row) => ({ name: row['name'] as string }));
 * oneRow(z.object({ name: z.string() }));
 */
export function oneRow<const M extends RowMapper<unknown>>(
  mapper: M,
  options: VersionOption = {},
): ResultShape<MappedRow<M> | undefined> {
  checkShapeArguments('oneRow', {
    mapper,
    options,
    name: 'version',
    example: "'written'",
  });
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
 * Returns the shape for all rows. More rows than `max` fail with `INVALID_VALUE`. If the number of
 * rows grows without a limit, use `page`. Default: 5 000.
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
      if (rows.length <= max && pageState === undefined)
        return rows.map((row) => mapRow(mapper, row, name));
      const message = `${name}: more than ${max} rows: raise max of rows(), add a LIMIT, or give the result as page()`;
      throw new CorrectableError('INVALID_VALUE', message);
    },
  };
}

/**
 * Returns the shape whose result is one page, with the position of the next one. The arguments may
 * have `pageState`, from the page before, and `pageSize`, up to `size`. Default of `size`: 100.
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

/** Returns the shape without a result, the default for writes. */
export function noResult(): ResultShape<void> {
  return {
    kind: 'noResult',
    pageSize: PAGE_SIZE,
    versionColumn: undefined,
    buildResult: () => undefined,
  };
}

interface ShapeArguments {
  readonly mapper: unknown;
  readonly options: unknown;
  readonly name: string;
  readonly example: string;
}

function checkShapeArguments(
  shape: string,
  { mapper, options, name, example }: ShapeArguments,
): void {
  const call = `${shape}((row) => row['name'], { ${name}: ${example} })`;
  const isSchema = typeof mapper === 'object' && mapper !== null && '~standard' in mapper;
  check(
    isSchema || typeof mapper === 'function',
    'mapper',
    `must be a function of a row, or a schema: write ${call}`,
  );
  checkOptionNames(options, { call }, { [name]: true });
}

function mapRow<M extends RowMapper<unknown>>(mapper: M, row: Row, name: string): MappedRow<M> {
  if (typeof mapper !== 'function') {
    return validateWithSchema(mapper, row, {
      code: 'INVALID_VALUE',
      root: 'row',
      subject: name,
    }) as MappedRow<M>;
  }
  try {
    return mapper(row) as MappedRow<M>;
  } catch (cause) {
    if (isCorrectableError(cause)) throw cause;
    throw new CorrectableError(
      'INVALID_VALUE',
      `${name}: a row cannot be read: ${String(cause)}. Correct the row, or the mapper of the statement.`,
      { cause },
    );
  }
}
