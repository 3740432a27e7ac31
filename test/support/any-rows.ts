/** Tables with fields of all kinds, any changes of their rows, and all that a store shows of them. */
import fc from 'fast-check';
import {
  createInsertEffect,
  createRemoveEffect,
  type Effect,
  type Stamp,
} from '../../src/server/service/records/effect.ts';
import { RED } from '../../src/server/service/records/origin.ts';
import type { ReadRange, Scalar } from '../../src/server/service/records/read-range.ts';
import { Ledger } from '../../src/server/service/fields/ledger.ts';
import type { Store } from '../../src/server/service/state/store.ts';
import {
  boundedCounter,
  cell,
  counter,
  log,
  queue,
  register,
  set,
  stock,
  table,
} from '../../src/server/service/tables.ts';
import { siteAt } from './origins.ts';

export const TABLES = {
  kept: table(
    {
      owner: register<Scalar>(),
      tags: set<Scalar>(),
      count: counter(),
      left: boundedCounter({ min: 0 }),
      stock: stock(),
      seat: cell<Scalar>(),
      items: queue<unknown>(),
    },
    { indexes: ['owner', 'tags', 'seat'] },
  ),
  /** Blue operations remove its rows. */
  notes: table(
    { title: register<Scalar>(), tags: set<Scalar>(), count: counter(), lines: log<string>() },
    { indexes: ['title', 'tags'], removable: true },
  ),
  /** Only red operations remove its rows. */
  carts: table({ items: queue<unknown>(), note: register<string>() }, { removable: true }),
};
export type TableName = keyof typeof TABLES;
export const TABLE_NAMES = Object.keys(TABLES) as TableName[];

/** Pairs, zeros, spaces, and what UTF-8 puts in another order. */
export const KEYS = ['', '\u0000', 'a', 'a\u0000', 'a b', '\ud800\udc00', '\uffff', 'z'];
const NUMBERS = [-1, 0, -0, 0.5, 2 ** 53, 1e300];
/** Of two such items, or three, a part of a queue is full. */
const LONG = 'x'.repeat(30_000);

const key = fc.constantFrom(...KEYS);
const value = fc.constantFrom<Scalar>(...KEYS, ...NUMBERS);
const amount = fc.nat(9);
const item = fc.oneof(value, fc.constant(LONG), fc.constant({ at: 1n, list: [LONG] }));

/** How fields change, by their kinds. */
const CHANGES: Readonly<Record<string, fc.Arbitrary<readonly [action: string, value?: unknown]>>> =
  {
    register: value.map((written) => ['write', written] as const),
    set: fc.tuple(fc.constantFrom('add', 'add', 'remove'), value),
    counter: amount.map((added) => ['add', added] as const),
    bounded: amount.map((given) => ['give', given] as const),
    log: fc.constantFrom(...KEYS).map((line) => ['append', line] as const),
    stock: amount.map((added) => ['add', added] as const),
    cell: value.map((assigned) => ['assign', assigned] as const),
    queue: fc.oneof(
      item.map((pushed) => ['push', pushed] as const),
      fc.constant(['pop'] as const),
    ),
  };
const RED_KINDS = ['stock', 'cell', 'queue'];

export interface Change {
  readonly effect: Effect;
  readonly isRed: boolean;
  /** By how much its stamp is older than the newest. */
  readonly age: number;
  readonly site: number;
}

const fieldChange = fc.constantFrom(...TABLE_NAMES).chain((name) =>
  fc.constantFrom(...Object.entries(TABLES[name].fields)).chain(([field, { kind }]) =>
    fc.record({
      effect: fc.tuple(key, CHANGES[kind]!).map(([row, [action, written]]): Effect => {
        return { table: name, key: row, field, action, value: written };
      }),
      isRed: fc.constant(RED_KINDS.includes(kind)),
    }),
  ),
);
const rowChange = fc
  .tuple(fc.constantFrom('notes', 'carts'), key, fc.boolean())
  .map(([name, row, isInsertion]) => {
    const effect = (isInsertion ? createInsertEffect : createRemoveEffect)(name, row);
    return { effect, isRed: name === 'carts' };
  });
export const change: fc.Arbitrary<Change> = fc
  .tuple(
    fc.oneof({ weight: 3, arbitrary: fieldChange }, { weight: 1, arbitrary: rowChange }),
    fc.constantFrom(0, 0, 0, 1, 4),
    fc.nat(1),
  )
  .map(([drawn, age, site]) => ({ ...drawn, age, site }));

const bound = fc.option(value, { nil: undefined });
export const bounds = fc.record({ from: bound, before: bound, upTo: bound });
export type Bounds = { readonly [K in 'from' | 'before' | 'upTo']: Scalar | undefined };

/** Describes what was read, so that it can be compared. */
function describeValue(read: unknown): unknown {
  if (read instanceof Set) return [...(read as Set<unknown>)];
  if (read instanceof Ledger)
    return [read.left, read.pool, read.holders.map((origin) => read.getHolding(origin))];
  if (typeof read !== 'object' || read === null || !('at' in read) || Array.isArray(read))
    return read;
  const { size, at } = read as { size: number; at(index: number): unknown };
  return Array.from({ length: size }, (_, index) => at(index));
}

/** Bigints are in values. Long texts are alike. */
export const toText = (shown: unknown): string =>
  JSON.stringify(shown, (_, part: unknown) => {
    if (typeof part === 'bigint') return `${part}n`;
    return part === LONG ? 'a long text' : part;
  });

export function showRow(store: Store, name: TableName, row: string): unknown {
  const fields = Object.keys(TABLES[name].fields);
  return [
    store.has(name, row),
    store.existsByRed(name, row),
    fields.map((field) => describeValue(store.read(name, row, field))),
  ];
}

const toRange = (name: TableName, field: string | undefined, limits: Bounds): ReadRange => ({
  table: name,
  ...(field !== undefined && { field }),
  ...(limits.from !== undefined && { from: limits.from }),
  ...(limits.before !== undefined && { before: limits.before }),
  ...(limits.upTo !== undefined && { upTo: limits.upTo }),
});

/** All that a store shows. */
export function show(store: Store, limits: Bounds): string {
  const scans = TABLE_NAMES.flatMap((name) =>
    [undefined, ...TABLES[name].indexes].flatMap((field) =>
      [toRange(name, field, limits), toRange(name, field, NO_BOUNDS)].flatMap((range) =>
        [false, true].map((reverse) => [...store.scan(range, reverse)]),
      ),
    ),
  );
  const rows = TABLE_NAMES.flatMap((name) => KEYS.map((row) => showRow(store, name, row)));
  return toText([store.snapshot(), store.getRemovalTimes(), scans, rows]);
}

export const NO_BOUNDS: Bounds = { from: undefined, before: undefined, upTo: undefined };

/** Returns the stamp of the change that a site makes at this time. */
export function createStamp({ isRed, age, site }: Change, now: number): Stamp {
  const time = isRed ? now : Math.max(1, now - age);
  const at = siteAt(site);
  const seen = [now - 1, Math.max(0, time - 3), Math.max(0, time - 2)];
  return { time, site: at, entry: isRed ? RED : at, version: time, seen };
}
