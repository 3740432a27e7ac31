/**
 * The internals of zod 4 schemas that are the same in `zod`, `zod/mini` and each 4.x. Their own
 * types differ.
 */

/**
 * A schema of any zod 4.x: of `zod`, or of `zod/mini`, which takes a fifth of the size in a page.
 */
export interface Schema {
  readonly _zod: {
    readonly def: object;
    readonly input: unknown;
    readonly output: unknown;
  };
}

/**
 * The input of a schema. Conditional, as in zod: otherwise the compiler rejects a contract of any
 * operations.
 */
export type InputOf<S> = S extends {
  readonly _zod: { readonly input: unknown };
}
  ? S['_zod']['input']
  : never;
/** The output of a schema. */
export type OutputOf<S> = S extends {
  readonly _zod: { readonly output: unknown };
}
  ? S['_zod']['output']
  : never;

/** A schema, or a check of one. */
export interface SchemaPart {
  readonly _zod: {
    readonly def: Record<string, unknown>;
    /** The inner schema of a lazy schema. */
    readonly innerType?: unknown;
    /** The accepted values of a schema that accepts only these. */
    readonly values?: unknown;
    /** The names of the schema's classes. */
    readonly traits?: ReadonlySet<string>;
    /** Creates another schema of the same kind. */
    readonly constr?: new (def: Record<string, unknown>) => SchemaPart;
    check?: unknown;
  };
}

/**
 * Returns whether a schema creates a new object from each input. Only the parts of such an object
 * may be shared with other code.
 */
export function canCreateObject({ _zod: { def } }: Schema): boolean {
  const { type, checks, shape } = def as {
    type?: unknown;
    checks?: readonly unknown[];
    shape?: object;
  };
  // A check may replace the object. Symbol keys are not read.
  const isPlain =
    (checks ?? []).length === 0 && Object.getOwnPropertySymbols(shape ?? {}).length === 0;
  return type === 'object' && isPlain;
}

/**
 * Returns the schema behind a lazy one. Throws what its getter throws. After such a failure,
 * `innerType` would stay empty.
 */
export function getLazySchema({ _zod: internals }: SchemaPart): unknown {
  const { type, getter } = internals.def;
  if (type !== 'lazy' || typeof getter !== 'function') return undefined;
  const inner: unknown = getter();
  return internals.innerType ?? inner;
}

export function isSchemaPart(value: unknown): value is SchemaPart {
  return typeof value === 'object' && value !== null && '_zod' in value;
}
