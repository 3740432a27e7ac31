/**
 * What a kind of field is to a replica: a state that effects change, and
 * effects in flight laid over it.
 */
import type { Effect, Stamp } from '../../records/effect.ts';
import type { OwnedEffects } from './owned-effects.ts';

/** The committed state of one field at one site. */
export interface FieldState {
  /**
   * The value as generators see it. Cheap; may be a live view, valid until the
   * next `apply`.
   */
  read(): unknown;
  /** Applies one effect and returns its result. */
  apply(effect: Effect, stamp: Stamp): unknown;
  /**
   * Of a field that holds many values: whether it holds this one. An effect
   * changes that of its own value alone.
   */
  holds?(value: unknown): boolean;
  /**
   * Takes away what was written up to this stamp; a red-only field, what was
   * written before in the red order.
   */
  clear(upTo: Stamp): void;
  /** Whether it is as if never written. */
  readonly isInitial: boolean;
  /**
   * The state as plain data, equal at two sites exactly when they have
   * converged.
   */
  snapshot(): unknown;
  /**
   * All of the state as plain data, to make the same state of again; of one
   * that has parts, the rest.
   */
  save(): unknown;
  /** Of a state that may become large: the parts that it is saved in. */
  readonly parts?: StateParts;
}

/** The parts of a state: numbered, each small enough to be written as one. */
export interface StateParts {
  /**
   * Returns the values that have changed or gone since they were last saved,
   * and were not returned before.
   */
  takeChanged(): readonly number[];
  /** All that there are. */
  getNumbers(): readonly number[];
  /** A part as plain data; `undefined` when it is gone. */
  save(number: number): unknown;
  /** Makes a part of what `save` gave, in the order of their numbers. */
  restore(number: number, saved: unknown): void;
  /** Throws unless all parts exist that the rest of the state names. */
  checkRestored(): void;
}

/** What a field of a kind says of itself beside its kind. */
export interface FieldOptions {
  /** Of a bounded one. */
  readonly min?: number | undefined;
}

/** Names of the field kinds. */
export type FieldKindName =
  | 'counter'
  | 'register'
  | 'set'
  | 'log'
  | 'cell'
  | 'queue'
  | 'stock'
  | 'bounded';

export interface FieldKind {
  readonly name: FieldKindName;
  /** The function that declares such a field, as error texts name it. */
  readonly builder: string;
  /**
   * Whether only red shadow operations may change it: its effects may then read
   * it when applied.
   */
  readonly isRedOnly: boolean;
  /**
   * Whether rows can be found by its values: they are strings or numbers, or it
   * holds many of these.
   */
  readonly isIndexable?: boolean;
  /** Whether its states have parts. */
  readonly hasParts?: boolean;
  /**
   * The builders of effects that a shadow operation finds under the field's
   * name, by action.
   */
  readonly effects: Readonly<Record<string, EffectBuilder>>;
  /** Actions that sites take by themselves, and no author's effect has. */
  readonly ownActions?: readonly string[];
  /**
   * Whether an effect may carry this value, by whom ever it was made; any,
   * unless given.
   */
  accepts?(action: string, value: unknown): boolean;
  /** The state at first, or the one that was saved. */
  state(saved?: unknown, options?: FieldOptions): FieldState;
  /** The same for a row that can be removed, where it must remember more. */
  removableState?(saved?: unknown): FieldState;
  /** For what is in flight on one field. */
  pending(): OwnedEffects;
}

export interface FieldName {
  readonly table: string;
  readonly field: string;
}

/** Builds an effect on a field of the row with this key. */
export type EffectBuilder = (
  name: FieldName,
  key: string,
  value?: unknown,
  options?: unknown,
) => Effect;

/**
 * Builds effects with a value. One plain literal, on the hot path:
 * `copyEffects` copies later what is given.
 */
export function createEffectBuilder(action: string): EffectBuilder {
  return ({ table, field }, key, value) => ({
    table,
    key,
    field,
    action,
    value,
  });
}
