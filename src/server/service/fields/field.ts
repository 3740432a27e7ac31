/**
 * What a replica needs of a kind of field: the state that effects change, and the effects in flight
 * above it.
 */
import type { RowChanges } from '../records/checkpoint.ts';
import type { Effect, Stamp } from '../records/effect.ts';
import type { OwnedEffects } from './owned-effects.ts';

/** The committed state of one field at one site. */
export interface FieldState {
  /**
   * The value for generators. It is cheap to read, and may be a live view that is valid until the
   * next `apply`.
   */
  read(): unknown;
  /** Applies one effect and returns its result. */
  apply(effect: Effect, stamp: Stamp): unknown;
  /**
   * For a field with many values: whether it holds this one. An effect changes only its own value.
   */
  holds?(value: unknown): boolean;
  /**
   * Removes what was written up to this stamp. A red-only field removes what was written before in
   * the red order.
   */
  clear(upTo: Stamp): void;
  /** Whether the field is as if it was never written. */
  readonly isInitial: boolean;
  /**
   * About how many bytes it takes in memory. It follows from the content alone, and is read twice
   * for each effect: states that may become large add it up.
   */
  readonly bytes: number;
  /** About how many of these bytes its snapshot is made of. Default: all */
  readonly snapshotBytes?: number;
  /** The state as plain data. It is equal at two sites exactly when they have converged. */
  snapshot(): unknown;
  /**
   * The state as plain data, to create it again. If the state has parts, this is the rest beside
   * the parts.
   */
  save(): unknown;
  /** The parts in which a state that may become large is saved. */
  readonly parts?: StateParts;
}

/** What parts have to know of a `RowChanges`. */
export type ChangePeriod = Pick<RowChanges<unknown>, 'period' | 'isSaving'>;

/** The parts of a state. They are numbered, and each is small enough to be written at once. */
export interface StateParts {
  /** About how many bytes all parts take in memory. */
  readonly bytes: number;
  /**
   * Returns the number of the part that an effect with this action is about to change or remove,
   * unless it was returned in this period of the changes already.
   */
  findChanging(action: string, changes: ChangePeriod): number | undefined;
  /** Returns the numbers of all parts, in order. */
  getNumbers(): readonly number[];
  /** Returns a part as plain data; `undefined` if it is gone. */
  save(number: number): unknown;
  /**
   * Restores a part from the result of `save`. Parts come in the order of their numbers. Returns
   * the number of the next part, if there must be one.
   */
  restore(number: number, saved: unknown): number | undefined;
  /** Throws unless all parts exist that the rest of the state names. */
  checkRestored(): void;
}

/** The options of a field beside its kind. */
export interface FieldOptions {
  /** The minimum of a bounded field. */
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
   * Whether only red shadow operations may change it. Its effects may then read it when they are
   * applied.
   */
  readonly isRedOnly: boolean;
  /** Whether rows can be found by its value: a string or number, or a set of these. */
  readonly isIndexable?: boolean;
  /** Whether its state is saved in parts. */
  readonly hasParts?: boolean;
  /** The builders of effects by action, which shadow operations find under the field's name. */
  readonly effects: Readonly<Record<string, EffectBuilder>>;
  /** The actions after which the field is never larger than before. Default: none */
  readonly shrinkingActions?: readonly string[];
  /** Actions of the sites themselves. Effects of authors cannot have them. */
  readonly ownActions?: readonly string[];
  /**
   * Returns whether an effect may carry this value, no matter who created it. Default: any value
   */
  accepts?(action: string, value: unknown): boolean;
  /** Creates the initial state, or a saved one. */
  state(saved?: unknown, options?: FieldOptions): FieldState;
  /** Creates the state in a row that can be removed, if it must remember more then. */
  removableState?(saved?: unknown): FieldState;
  /** Creates the overlay for effects in flight on one field. */
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
 * Creates a builder of effects with a value. It returns one plain literal, since it is on the hot
 * path. `copyEffects` copies the value later.
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
