/**
 * Every kind of read and every kind of effect, for the table of all pairs in `red-order.test.ts`.
 */
import { z } from 'zod';
import { defineContract } from '../../../../../../src/contract/contract.ts';
import {
  type Effect,
  createInsertEffect,
  createRemoveEffect,
} from '../../../../../../src/server/service/records/effect.ts';
import {
  defineService,
  type GeneratorContext,
} from '../../../../../../src/server/service/service.ts';
import {
  blue,
  red,
  type ShadowOperations,
} from '../../../../../../src/server/service/shadow-operation.ts';
import {
  cell,
  counter,
  log,
  queue,
  register,
  set,
  stock,
  table,
} from '../../../../../../src/server/service/tables.ts';
import {
  emptyRow,
  plainIndex,
  plainKeys,
  type PlainRow,
  type PlainTable,
} from './red-order-model.ts';
import type { Store } from '../../../../../../src/server/service/state/store.ts';

/** How many removals of rows a site remembers. */
export function countRemovals(store: Store): number {
  return (store.getRemovalTimes() as [table: string, rows: unknown[]][]).flatMap(([, rows]) => rows)
    .length;
}

const BLUE_FIELDS = {
  duty: register<string>(),
  n: counter(),
  tags: set<string>(),
  lines: log<string>(),
};
const ALL_FIELDS = { ...BLUE_FIELDS, post: cell<string>(), items: queue<string>(), seats: stock() };
const INDEXES = ['duty', 'tags'] as const;

const tables = {
  kept: table(ALL_FIELDS, { indexes: [...INDEXES, 'post'] }),
  held: table(ALL_FIELDS, { indexes: [...INDEXES, 'post'], removable: true }),
  open: table(BLUE_FIELDS, { indexes: INDEXES, removable: true }),
  notes: table({ value: register() }),
};

export type TableName = 'kept' | 'held' | 'open';
export const TABLE_NAMES: readonly TableName[] = ['kept', 'held', 'open'];

/** A table with all fields, as generators and scratchpads have it. */
type Held = GeneratorContext<typeof tables, ShadowOperations>['tables']['held'];

interface ReadCase {
  /** Only in tables with red-only fields. */
  readonly isRedOnly?: true;
  /** Only in tables whose rows can be removed. */
  readonly removes?: true;
  run(rows: Held, pad: Pad): unknown;
  plain(rows: PlainTable): unknown;
}

/**
 * What a read may try on its scratchpad: a change by its name, or one that makes a reply of its
 * results.
 */
interface Pad {
  change(kind: string): void;
  yield(kind: string): unknown;
}

const rowOf = (rows: PlainTable, key: string): PlainRow => rows.get(key) ?? emptyRow();
const byDuty = (rows: PlainTable, isMeant: (value: string) => boolean = () => true): string[] =>
  plainIndex(rows, ({ duty }) => [duty], isMeant);
const byTags = (rows: PlainTable, isMeant: (value: string) => boolean = () => true): string[] =>
  plainIndex(rows, ({ tags }) => tags, isMeant);
const once = (keys: readonly string[]): string[] => [...new Set(keys)];
/** With a change tried on a copy. */
const tried = (rows: PlainTable, kind: string): PlainTable => {
  const copy: PlainTable = new Map([...rows].map(([key, row]) => [key, structuredClone(row)]));
  const { key, field, action, value } = (CHANGES[kind] as ChangeCase).effects('held')[0] as Effect;
  if (action === 'remove' && field === '') copy.delete(key);
  else
    copy.set(key, { ...rowOf(copy, key), ...(field === 'duty' ? { duty: value as string } : {}) });
  return copy;
};

/** Reads by name. The rows are a, b and bb; no test writes c. */
export const READS: Readonly<Record<string, ReadCase>> = {
  register: {
    run: (rows) => rows.row('b').duty ?? null,
    plain: (rows) => rowOf(rows, 'b').duty ?? null,
  },
  'register of bb': {
    run: (rows) => rows.row('bb').duty ?? null,
    plain: (rows) => rowOf(rows, 'bb').duty ?? null,
  },
  counter: { run: (rows) => rows.row('b').n, plain: (rows) => rowOf(rows, 'b').n },
  set: {
    run: (rows) => [...rows.row('b').tags].toSorted(),
    plain: (rows) => [...rowOf(rows, 'b').tags].toSorted(),
  },
  log: { run: (rows) => rows.row('b').lines, plain: (rows) => rowOf(rows, 'b').lines },
  cell: {
    isRedOnly: true,
    run: (rows) => rows.row('b').post ?? null,
    plain: (rows) => rowOf(rows, 'b').post ?? null,
  },
  queue: {
    isRedOnly: true,
    run: (rows) => [rows.row('b').items.size, rows.row('b').items.at(0) ?? null],
    plain: (rows) => [rowOf(rows, 'b').items.length, rowOf(rows, 'b').items[0] ?? null],
  },
  stock: {
    isRedOnly: true,
    run: (rows) => rows.row('b').seats,
    plain: (rows) => rowOf(rows, 'b').seats,
  },
  'has b': { run: (rows) => rows.has('b'), plain: (rows) => rows.has('b') },
  'has bb': { run: (rows) => rows.has('bb'), plain: (rows) => rows.has('bb') },
  keys: { run: (rows) => rows.keys(), plain: plainKeys },
  'keys, prefix': {
    run: (rows) => rows.keys({ prefix: 'b' }),
    plain: (rows) => plainKeys(rows).filter((key) => key.startsWith('b')),
  },
  'keys, from, before': {
    run: (rows) => rows.keys({ from: 'b', before: 'bb' }),
    plain: (rows) => plainKeys(rows).filter((key) => key >= 'b' && key < 'bb'),
  },
  'keys, equals': {
    run: (rows) => rows.keys({ equals: 'b' }),
    plain: (rows) => (rows.has('b') ? ['b'] : []),
  },
  'keys, limit': {
    run: (rows) => rows.keys({ limit: 2 }),
    plain: (rows) => plainKeys(rows).slice(0, 2),
  },
  'keys, limit, reverse': {
    run: (rows) => rows.keys({ limit: 1, reverse: true }),
    plain: (rows) => plainKeys(rows).slice(-1),
  },
  index: { run: (rows) => rows.by.duty(), plain: (rows) => byDuty(rows) },
  'index, equals': {
    run: (rows) => rows.by.duty({ equals: 'on' }),
    plain: (rows) => byDuty(rows, (value) => value === 'on'),
  },
  'index, from': {
    run: (rows) => rows.by.duty({ from: 'on' }),
    plain: (rows) => byDuty(rows, (v) => v >= 'on'),
  },
  'index, before': {
    run: (rows) => rows.by.duty({ before: 'on' }),
    plain: (rows) => byDuty(rows, (v) => v < 'on'),
  },
  'index, limit': {
    run: (rows) => rows.by.duty({ limit: 1 }),
    plain: (rows) => byDuty(rows).slice(0, 1),
  },
  'index, limit, reverse': {
    run: (rows) => rows.by.duty({ limit: 1, reverse: true }),
    plain: (rows) => byDuty(rows).slice(-1),
  },
  'index of a set': { run: (rows) => rows.by.tags(), plain: (rows) => once(byTags(rows)) },
  'index of a set, equals': {
    run: (rows) => rows.by.tags({ equals: 'x' }),
    plain: (rows) => byTags(rows, (value) => value === 'x'),
  },
  'index of a set, limit, reverse': {
    run: (rows) => rows.by.tags({ limit: 1, reverse: true }),
    plain: (rows) => byTags(rows).slice(-1),
  },
  'index of a cell': {
    isRedOnly: true,
    run: (rows) => rows.by.post(),
    plain: (rows) =>
      plainIndex(
        rows,
        ({ post }) => [post],
        () => true,
      ),
  },
  'scratchpad: written, then the index': {
    run: (rows, pad) => (pad.change('duty b off'), rows.by.duty({ equals: 'on' })),
    plain: (rows) => byDuty(tried(rows, 'duty b off'), (value) => value === 'on'),
  },
  'scratchpad: brought in, then the keys': {
    run: (rows, pad) => (pad.change('duty bb on'), rows.keys()),
    plain: (rows) => plainKeys(tried(rows, 'duty bb on')),
  },
  'scratchpad: removed, then the keys': {
    removes: true,
    run: (rows, pad) => (pad.change('remove b'), rows.keys()),
    plain: (rows) => plainKeys(tried(rows, 'remove b')),
  },
  'scratchpad: what a pop yields': {
    isRedOnly: true,
    run: (_rows, pad) => pad.yield('pop b'),
    plain: (rows) => rowOf(rows, 'b').items[0] ?? null,
  },
  'scratchpad: what a take yields': {
    isRedOnly: true,
    run: (_rows, pad) => pad.yield('take b'),
    plain: (rows) => rowOf(rows, 'b').seats >= 1,
  },
  'scratchpad: what an assignment yields': {
    isRedOnly: true,
    run: (_rows, pad) => pad.yield('post b'),
    plain: (rows) => rowOf(rows, 'b').post ?? null,
  },
};

interface ChangeCase {
  readonly isRedOnly?: true;
  readonly removes?: true;
  effects(name: TableName): readonly Effect[];
}

const on = (
  key: string,
  field: string,
  action: string,
  value?: unknown,
): Omit<ChangeCase, 'isRedOnly'> => ({
  effects: (name) => [
    { table: name, key, field, action, ...(value === undefined ? {} : { value }) },
  ],
});

/** By name. */
export const CHANGES: Readonly<Record<string, ChangeCase>> = {
  'duty b on': on('b', 'duty', 'write', 'on'),
  'duty b off': on('b', 'duty', 'write', 'off'),
  'duty bb on': on('bb', 'duty', 'write', 'on'),
  'n b': on('b', 'n', 'add', 1),
  'n bb': on('bb', 'n', 'add', 1),
  'tag b x': on('b', 'tags', 'add', 'x'),
  'tag b z': on('b', 'tags', 'add', 'z'),
  'untag b x': on('b', 'tags', 'remove', 'x'),
  'line b': on('b', 'lines', 'append', 'one'),
  'insert b': { effects: (name) => [createInsertEffect(name, 'b')] },
  'insert bb': { effects: (name) => [createInsertEffect(name, 'bb')] },
  'remove b': { removes: true, effects: (name) => [createRemoveEffect(name, 'b')] },
  'remove bb': { removes: true, effects: (name) => [createRemoveEffect(name, 'bb')] },
  'remove and write b': {
    removes: true,
    effects: (name) => [
      createRemoveEffect(name, 'b'),
      ...on('b', 'duty', 'write', 'on').effects(name),
    ],
  },
  'write and remove bb': {
    removes: true,
    effects: (name) => [
      ...on('bb', 'duty', 'write', 'on').effects(name),
      createRemoveEffect(name, 'bb'),
    ],
  },
  'post b': { isRedOnly: true, ...on('b', 'post', 'assign', 'chief') },
  'post bb': { isRedOnly: true, ...on('bb', 'post', 'assign', 'clerk') },
  'push b': { isRedOnly: true, ...on('b', 'items', 'push', 'new') },
  'push bb': { isRedOnly: true, ...on('bb', 'items', 'push', 'new') },
  'pop b': { isRedOnly: true, ...on('b', 'items', 'pop') },
  'stock b': { isRedOnly: true, ...on('b', 'seats', 'add', 1) },
  'take b': { isRedOnly: true, ...on('b', 'seats', 'take', { amount: 1, atLeast: 0 }) },
  'take bb': { isRedOnly: true, ...on('bb', 'seats', 'take', { amount: 1, atLeast: 0 }) },
  'pop bb': { isRedOnly: true, ...on('bb', 'items', 'pop') },
};

/** Whether the table can have this read or change. */
export function isFor(
  name: TableName,
  { isRedOnly, removes }: Pick<ChangeCase, 'isRedOnly' | 'removes'>,
): boolean {
  return !(isRedOnly === true && name === 'open') && !(removes === true && name === 'kept');
}

const target = { name: z.enum(TABLE_NAMES), kind: z.string() };
const contract = defineContract('pairs', {
  read: { access: 'write', args: z.object(target), result: z.unknown() },
  change: { access: 'write', args: z.object(target), result: z.null() },
  changeBlue: { access: 'write', args: z.object(target), result: z.null() },
  look: { access: 'read', args: z.object(target), result: z.unknown() },
});

type Target = z.infer<z.ZodObject<typeof target>>;
const effectsOf = ({ name, kind }: Target): readonly Effect[] =>
  (CHANGES[kind] as ChangeCase).effects(name);
/** What a pop took, whether a take took, what an assignment replaced. */
function plainResult(result: unknown): unknown {
  if (typeof result !== 'object' || result === null) return result ?? null;
  const { took, item } = result as { readonly took?: boolean; readonly item?: unknown };
  return took ?? item ?? null;
}

export const service = defineService(contract, {
  tables,
  shadowOperations: ({ notes }) => ({
    note: red(({ name, value }: { name: string; value: unknown }) => [
      notes.row(name).value.write(value),
    ]),
    change: red(effectsOf),
    changeBlue: blue(effectsOf as (args: Target) => readonly Effect<unknown, 'blue'>[]),
    yields: red(effectsOf, ([result]) => plainResult(result)),
  }),
  generators: {
    read: ({ name, kind }, context) => {
      const { shadow, scratchpad } = context;
      const pad: Pad = {
        change: (tried) => void scratchpad.apply(shadow.change({ name, kind: tried }, null)),
        yield: (tried) => scratchpad.apply(shadow.yields({ name, kind: tried })),
      };
      const value = (READS[kind] as ReadCase).run(context.tables[name] as Held, pad);
      return shadow.note({ name: kind, value }, value);
    },
    change: (args, { shadow }) => shadow.change(args, null),
    changeBlue: (args, { shadow }) => shadow.changeBlue(args, null),
    look: ({ name, kind }, context) =>
      (READS[kind] as ReadCase).run(context.tables[name] as Held, undefined as never),
  },
});
