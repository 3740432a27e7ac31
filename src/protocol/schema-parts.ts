/** What schemas of `zod` and `zod/mini` have inside, as far as it is looked into here. */

/** A schema, or a check of one. */
export interface SchemaPart {
  readonly _zod: {
    readonly def: Record<string, unknown>;
    /** Of a lazy schema: the one that it stands for. */
    readonly innerType?: unknown;
    check?: unknown;
  };
}

/**
 * The schema that a lazy one stands for; `undefined` of others. Throws what its getter throws, as where that refers to
 * what is not there yet: `innerType`, asked then, would have none for ever.
 */
export function lazyInner({ _zod: internals }: SchemaPart): unknown {
  const { type, getter } = internals.def;
  if (type !== 'lazy' || typeof getter !== 'function') return undefined;
  const inner: unknown = getter();
  return internals.innerType ?? inner;
}

export function isSchemaPart(value: unknown): value is SchemaPart {
  return typeof value === 'object' && value !== null && '_zod' in value;
}
