/**
 * The state of a service, computed from all changes that were ever made: slow, simple, without code
 * of the replica.
 */
import type { Effect } from '../../../server/service/records/effect.ts';
import type { Field, Tables } from '../../../server/service/tables.ts';
import {
  compareByRedOrder,
  compareByTime,
  compareBySeen,
  hasSeen,
  createLedger,
} from './model-operation.ts';
import type { Change, Counts, ModelOperation } from './model-operation.ts';

type Changes = readonly Change[];
const getValues = (changes: Changes): unknown[] => changes.map(({ effect }) => effect.value);

type FieldMeaning = (changes: Changes, min: number) => unknown;

/** The compiler requires an entry for each new kind. */
const FIELD_MEANINGS: Readonly<Record<Field['kind'], FieldMeaning>> = {
  bounded: createLedger,
  counter: (changes) =>
    Number(getValues(changes).reduce<bigint>((sum, amount) => sum + BigInt(amount as number), 0n)),
  register: (changes) => getValues(changes.toSorted(compareByTime)).at(-1),
  cell: (changes) => getValues(changes.toSorted(compareByRedOrder)).at(-1),
  log: (changes) => getValues(changes.toSorted(compareByTime)),
  set: (changes) => {
    const removals = changes.filter(({ effect }) => effect.action === 'remove');
    const isTaken = (addition: Change): boolean =>
      removals.some(
        (removal) => removal.effect.value === addition.effect.value && hasSeen(removal, addition),
      );
    const left = changes.filter((change) => change.effect.action === 'add' && !isTaken(change));
    return new Set((getValues(left) as (string | number)[]).toSorted(compareBySeen));
  },
  stock: (changes) => {
    let left = 0n;
    for (const { effect } of changes.toSorted(compareByRedOrder))
      left = computeStock(left, effect).left;
    return Number(left);
  },
  queue: (changes) => {
    const items: unknown[] = [];
    for (const { effect } of changes.toSorted(compareByRedOrder)) {
      if (effect.action === 'push') items.push(effect.value);
      else items.shift();
    }
    return { size: items.length, at: (index: number) => items[index] };
  },
};

/**
 * Fields that only red operations change: their order is the red order. The oracle has a list of
 * its own, so that it does not repeat a fault of the kinds.
 */
const IS_RED_ONLY: Readonly<Record<Field['kind'], boolean>> = {
  bounded: false,
  counter: false,
  register: false,
  set: false,
  log: false,
  cell: true,
  queue: true,
  stock: true,
};

/** Returns the result of an effect on a field of this kind with the value `before`. */
function computeResult(kind: string, effect: Effect, before: unknown): unknown {
  if (kind === 'cell') return before;
  if (kind === 'stock') {
    const { left, took } = computeStock(BigInt(before as number), effect);
    return effect.action === 'add'
      ? { remaining: Number(left) }
      : { took, remaining: Number(left) };
  }
  if (kind !== 'queue') return undefined;
  const { size, at } = before as {
    readonly size: number;
    at(index: number): unknown;
  };
  if (effect.action === 'push') return { size: size + 1 };
  return size === 0
    ? { found: false, remaining: 0 }
    : { found: true, item: at(0), remaining: size - 1 };
}

/** A take that would leave too little takes nothing. */
function computeStock(
  left: bigint,
  { action, value }: Effect,
): { readonly left: bigint; readonly took: boolean } {
  if (action === 'add') return { left: left + BigInt(value as number), took: true };
  const { amount, atLeast } = value as {
    readonly amount: number;
    readonly atLeast: number;
  };
  const took = left - BigInt(amount) >= BigInt(atLeast);
  return { left: took ? left - BigInt(amount) : left, took };
}

/**
 * Returns the value of a field of this kind after these changes, in any order. `min` is that of a
 * bounded field.
 */
function computeValue(kind: string, changes: Changes, min = 0): unknown {
  const compute = (FIELD_MEANINGS as Readonly<Record<string, FieldMeaning>>)[kind];
  if (compute === undefined)
    throw new Error(
      `the oracle knows no fields of kind '${kind}': say in FIELD_MEANINGS what they mean`,
    );
  return compute(changes, min);
}

export interface ModelEntry {
  readonly value: string | number;
  readonly key: string;
}

const WHOLE_ROW = '';
const isRemoval = ({ effect }: Change): boolean =>
  effect.field === WHOLE_ROW && effect.action === 'remove';

/** All changes that were made, by table and row. */
export class Model {
  readonly tables: Tables;
  readonly rows: ReadonlyMap<string, Map<string, Change[]>>;

  constructor(tables: Tables) {
    this.tables = tables;
    this.rows = new Map(Object.keys(tables).map((name) => [name, new Map<string, Change[]>()]));
  }

  add(by: ModelOperation, effects: readonly Effect[]): void {
    for (const [index, effect] of effects.entries()) {
      const rows = this.rows.get(effect.table) as Map<string, Change[]>;
      rows.set(effect.key, [...(rows.get(effect.key) ?? []), { by, index, effect }]);
    }
  }
}

/** The state after some of the operations, with tried changes on top. */
export class ModelView {
  readonly tables: Tables;
  readonly #model: Model;
  readonly #counts: Counts;
  readonly #trialChanges = new Map<string, Change[]>();
  /** The changes of a row that no removal covers, by table and key. Computed once. */
  readonly #remainingChanges = new Map<string, readonly Change[]>();

  constructor(model: Model, counts: Counts) {
    this.tables = model.tables;
    this.#model = model;
    this.#counts = counts;
  }

  has(table: string, key: string): boolean {
    return this.#changes(table, key).length > 0;
  }

  read(table: string, key: string, field: string): unknown {
    const changes = this.#changes(table, key).filter(({ effect }) => effect.field === field);
    return computeValue(
      this.#getKind(table, field),
      changes,
      this.tables[table]?.fields[field]?.min,
    );
  }

  keys(table: string): readonly string[] {
    const keys = new Set(this.#model.rows.get(table)?.keys());
    for (const name of this.#trialChanges.keys())
      if (name.startsWith(`${table}\n`)) keys.add(name.slice(table.length + 1));
    return [...keys].filter((key) => this.has(table, key)).toSorted(compareBySeen);
  }

  /** Returns the rows by the values of a field, in the order of values and then of keys. */
  entries(table: string, field: string): readonly ModelEntry[] {
    const entries = this.keys(table).flatMap((key) => {
      const value = this.read(table, key, field);
      const values = value instanceof Set ? [...(value as Set<unknown>)] : [value];
      return values.filter(isOrdered).map((item) => ({ value: item, key }));
    });
    return entries.toSorted(
      (a, b) => compareBySeen(a.value, b.value) || compareBySeen(a.key, b.key),
    );
  }

  /** Adds a change on top and returns its result. */
  apply(change: Change): unknown {
    const { table, key, field } = change.effect;
    const before = field === WHOLE_ROW ? undefined : this.read(table, key, field);
    const name = `${table}\n${key}`;
    this.#trialChanges.set(name, [...(this.#trialChanges.get(name) ?? []), change]);
    this.#remainingChanges.delete(name);
    return computeResult(this.#getKind(table, field), change.effect, before);
  }

  /** Returns the changes of a row that no removal covers. */
  #changes(table: string, key: string): readonly Change[] {
    const name = `${table}\n${key}`;
    let left = this.#remainingChanges.get(name);
    if (left === undefined) {
      const made = this.#model.rows.get(table)?.get(key) ?? [];
      const retained = made.filter(({ by }) => by.place <= (this.#counts[by.list] ?? 0));
      const all = [...retained, ...(this.#trialChanges.get(name) ?? [])];
      const removals = all.filter(isRemoval);
      const isLeft = (change: Change): boolean =>
        !isRemoval(change) && !removals.some((removal) => this.#removes(removal, change));
      left = removals.length === 0 ? all : all.filter(isLeft);
      this.#remainingChanges.set(name, left);
    }
    return left;
  }

  /**
   * Returns whether a removal covers a change. It covers older changes. For fields that only red
   * operations change, it covers those before it in the red order.
   */
  #removes(removal: Change, change: Change): boolean {
    const { table, field } = change.effect;
    const isRedOnly =
      field !== WHOLE_ROW && IS_RED_ONLY[this.#getKind(table, field) as Field['kind']];
    return (isRedOnly ? compareByRedOrder(removal, change) : compareByTime(removal, change)) > 0;
  }

  #getKind(table: string, field: string): string {
    return this.tables[table]?.fields[field]?.kind ?? `none: ${table} has no field ${field}`;
  }
}

function isOrdered(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
