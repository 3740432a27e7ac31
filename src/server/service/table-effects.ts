/** The builders of effects that shadow operations are made of: `accounts.row(id).balance.add(5)`, `carts.remove(id)`. */
import type { Effect } from '../records/effect.ts';
import type { FieldKind, FieldName } from './fields/field.ts';
import { FIELD_KINDS } from './fields/kinds.ts';
import { insertEffect, removeEffect } from './row-effects.ts';
import type { EffectsOf, Fields, Table, Tables } from './tables.ts';

/** Builds the effects on one table. */
export type EffectTable<T extends Table> = {
  /** The effects on the fields of a row. Any of them brings the row into being. */
  row(key: string): { readonly [F in keyof T['fields']]: EffectsOf<T['fields'][F]> };
  /** Brings a row into being without writing a field. */
  insert(key: string): Effect<undefined, 'blue', false>;
} & (T['removable'] extends true
  ? {
      /** Removes a row: takes what was written up to the time of the operation. Red where a field is red-only. */
      remove(key: string): Effect<undefined, RemovalColour<T['fields']>, false>;
    }
  : unknown);

/** Builds the effects on all tables. */
export type EffectTables<T extends Tables> = { readonly [K in keyof T]: EffectTable<T[K]> };

type RemovalColour<F extends Fields> = 'red' extends ColourOf<EffectsOf<F[keyof F]>> ? 'red' : 'blue';
type ColourOf<E> = E extends unknown ? ColourOfBuilder<E[keyof E]> : never;
type ColourOfBuilder<B> = B extends (value: never) => Effect<unknown, infer C> ? C : never;

interface AnyEffectTable {
  row(key: string): object;
  insert(key: string): Effect;
  remove?(key: string): Effect;
}

/** The builders of effects on `tables`. */
export function effectTables<T extends Tables>(tables: T): EffectTables<T> {
  const built: Record<string, AnyEffectTable> = {};
  for (const [name, { fields, removable }] of Object.entries(tables)) {
    const remove = (key: string): Effect => removeEffect(name, key);
    const insert = (key: string): Effect => insertEffect(name, key);
    built[name] = { row: rowEffects(name, fields), insert, ...(removable ? { remove } : {}) };
  }
  return built as EffectTables<T>;
}

/** What has a key, under no name that a field or an action could have. One for all: each class's own would be another. */
class Keyed {
  readonly #key: string;
  constructor(key: string) {
    this.#key = key;
  }
  static keyOf(keyed: Keyed): string {
    return keyed.#key;
  }
}

/** Rows as objects of one class a table, so that only what is asked for is made. */
function rowEffects(table: string, fields: Fields): (key: string) => object {
  class RowEffects extends Keyed {
    static {
      for (const [field, { kind }] of Object.entries(fields)) {
        const effectsOn = fieldEffects({ table, field }, FIELD_KINDS[kind]);
        const get = function (this: RowEffects): object {
          return effectsOn(Keyed.keyOf(this));
        };
        Object.defineProperty(this.prototype, field, { enumerable: true, get });
      }
    }
  }
  return (key) => new RowEffects(key);
}

/** The effects on a field as methods of one class: functions of their own would have to be made anew for every row. */
function fieldEffects(name: FieldName, { effects }: FieldKind): (key: string) => object {
  class FieldEffects extends Keyed {
    static {
      for (const [action, build] of Object.entries(effects)) {
        const value = function (this: FieldEffects, given?: unknown, options?: unknown): Effect {
          return build(name, Keyed.keyOf(this), given, options);
        };
        Object.defineProperty(this.prototype, action, { enumerable: true, value });
      }
    }
  }
  return (key) => new FieldEffects(key);
}
