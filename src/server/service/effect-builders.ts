/**
 * The builders of effects for shadow operations: `accounts.row(id).balance.add(5)`,
 * `carts.remove(id)`.
 */
import { type Effect, createInsertEffect, createRemoveEffect } from './records/effect.ts';
import type { FieldKind, FieldName } from './fields/field.ts';
import { FIELD_KINDS } from './fields/field-kinds.ts';
import type { EffectsOf } from './fields/field-declaration.ts';
import type { Fields, Table, Tables } from './tables.ts';

/** Builds the effects on one table. */
export type EffectTable<T extends Table> = {
  /** Builds the effects on the fields of a row. Each of them creates the row if it is absent. */
  row(key: string): {
    readonly [F in keyof T['fields']]: EffectsOf<T['fields'][F]>;
  };
  /** Creates a row without writing a field. */
  insert(key: string): Effect<undefined, 'blue', false>;
} & (T['removable'] extends true
  ? {
      /**
       * Removes a row, with all that was written up to the time of the operation. Red if the row
       * has a red-only field.
       */
      remove(key: string): Effect<undefined, RemovalColor<T['fields']>, false>;
    }
  : unknown);

/** Builds the effects on all tables. */
export type EffectTables<T extends Tables> = {
  readonly [K in keyof T]: EffectTable<T[K]>;
};

type RemovalColor<F extends Fields> = 'red' extends ColorOf<EffectsOf<F[keyof F]>> ? 'red' : 'blue';
type ColorOf<E> = E extends unknown ? ColorOfBuilder<E[keyof E]> : never;
type ColorOfBuilder<B> = B extends (value: never) => Effect<unknown, infer C> ? C : never;

interface AnyEffectTable {
  row(key: string): object;
  insert(key: string): Effect;
  remove?(key: string): Effect;
}

/** Creates the builders of effects on `tables`. */
export function createEffectTables<T extends Tables>(tables: T): EffectTables<T> {
  const built: Record<string, AnyEffectTable> = {};
  for (const [name, { fields, removable }] of Object.entries(tables)) {
    const remove = (key: string): Effect => createRemoveEffect(name, key);
    const insert = (key: string): Effect => createInsertEffect(name, key);
    built[name] = {
      row: createRowEffects(name, fields),
      insert,
      ...(removable ? { remove } : {}),
    };
  }
  return built as EffectTables<T>;
}

/**
 * Keeps the key under a private name, so that no field or action can have it. All classes share it:
 * a private name of each class would be another one.
 */
class KeyedEffects {
  readonly #key: string;
  constructor(key: string) {
    this.#key = key;
  }
  static getKey(keyed: KeyedEffects): string {
    return keyed.#key;
  }
}

/**
 * Creates one class for each table. Rows are its instances, so that only the parts that are read
 * are created.
 */
function createRowEffects(table: string, fields: Fields): (key: string) => object {
  class RowEffects extends KeyedEffects {
    static {
      for (const [field, { kind }] of Object.entries(fields)) {
        const effectsOn = createFieldEffects({ table, field }, FIELD_KINDS[kind]);
        const get = function (this: RowEffects): object {
          return effectsOn(KeyedEffects.getKey(this));
        };
        Object.defineProperty(this.prototype, field, { enumerable: true, get });
      }
    }
  }
  return (key) => new RowEffects(key);
}

/**
 * Creates the effects on a field as methods of one class. Functions would be allocated for every
 * row.
 */
function createFieldEffects(name: FieldName, { effects }: FieldKind): (key: string) => object {
  class FieldEffects extends KeyedEffects {
    static {
      for (const [action, build] of Object.entries(effects)) {
        const value = function (this: FieldEffects, input?: unknown, options?: unknown): Effect {
          return build(name, KeyedEffects.getKey(this), input, options);
        };
        Object.defineProperty(this.prototype, action, {
          enumerable: true,
          value,
        });
      }
    }
  }
  return (key) => new FieldEffects(key);
}
