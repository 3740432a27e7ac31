import { check } from '../../../correctable/errors.ts';
import type { FieldKindName } from './field.ts';

declare const valueType: unique symbol;
declare const effectsType: unique symbol;

/** A field of a table. `V` is its value in generators, `E` has the builders of its effects. */
export interface Field<out V = unknown, out E = unknown> {
  readonly kind: FieldKindName;
  /** Minimum of a bounded field. */
  readonly min?: number | undefined;
  readonly [valueType]?: V;
  readonly [effectsType]?: E;
}

/** The value of a field, as generators read it. */
export type ValueOf<F> = F extends Field<infer V> ? V : never;
/** The builders of a field's effects. */
export type EffectsOf<F> = F extends Field<unknown, infer E> ? E : never;

/**
 * Creates a field of a kind that has no options. It rejects options, since it would ignore them.
 */
export function createPlainField(kind: FieldKindName, options: readonly unknown[]): Field {
  const advice = `write ${kind}(), or boundedCounter({ min: 0 }) for a minimum`;
  check(options.length === 0, 'options', `${kind} takes none: ${advice}`);
  return { kind };
}
