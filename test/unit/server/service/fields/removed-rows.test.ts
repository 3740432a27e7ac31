/**
 * What the fields of a removed row mean, if another site writes to it at the same time:
 * docs/spec/redblue.md, RB-V12.
 */
import { describe, expect, test } from 'vitest';
import { RED, Origins, type Origin } from '../../../../../src/server/service/records/origin.ts';
import type { Effect, Stamp } from '../../../../../src/server/service/records/effect.ts';
import {
  cell,
  counter,
  log,
  queue,
  register,
  set,
  stock,
  table,
} from '../../../../../src/server/service/tables.ts';
import { Store } from '../../../../../src/server/service/state/store.ts';

const [HERE, THERE] = Origins.create(['here', 'there']).sites as [Origin, Origin];
const KINDS = {
  register: register<string>(),
  counter: counter(),
  set: set<string>(),
  log: log<string>(),
};
const RED_KINDS = { cell: cell<string>(), queue: queue<string>(), stock: stock() };

const stampAt = (time: number, site: Origin, entry: Origin = site): Stamp => ({
  time,
  site,
  entry,
  version: time,
  seen: [0, 0, 0],
});
const on = (field: string, action: string, value?: unknown): Effect => ({
  table: 'rows',
  key: 'k',
  field,
  action,
  value,
});
const removal = on('', 'remove');

/** Per kind: a write, what the field reads as after that alone, and what it reads as at first. */
const CASES = [
  {
    field: 'register',
    first: on('register', 'write', 'a'),
    second: on('register', 'write', 'b'),
    alone: 'b',
    initial: undefined,
  },
  {
    field: 'counter',
    first: on('counter', 'add', 5),
    second: on('counter', 'add', 2),
    alone: 2,
    initial: 0,
  },
  {
    field: 'set',
    first: on('set', 'add', 'a'),
    second: on('set', 'add', 'b'),
    alone: ['b'],
    initial: [],
  },
  {
    field: 'log',
    first: on('log', 'append', 'a'),
    second: on('log', 'append', 'b'),
    alone: ['b'],
    initial: [],
  },
] as const;

const toPlain = (value: unknown): unknown =>
  value instanceof Set ? [...(value as Set<unknown>)] : value;
const createStore = (): Store =>
  new Store({ rows: table(KINDS, { indexes: ['register', 'set'], removable: true }) });

describe.each(CASES)('$field', ({ field, first, second, alone, initial }) => {
  test.each([
    ['before', [second, removal]],
    ['after', [removal, second]],
  ] as const)(
    'a later write of another site that arrives %s the removal → the row has that write alone',
    (_name, effects) => {
      const store = createStore();
      for (const other of CASES) store.apply(other.first, stampAt(1, HERE));
      for (const effect of effects)
        store.apply(effect, effect === removal ? stampAt(2, HERE) : stampAt(3, THERE));
      expect(store.has('rows', 'k')).toBe(true);
      expect(toPlain(store.read('rows', 'k', field))).toEqual(alone);
      for (const other of CASES)
        if (other.field !== field)
          expect(toPlain(store.read('rows', 'k', other.field))).toEqual(other.initial);
      // A scan shows it like any other row; the values that it has lost do not find it.
      expect([...store.scan({ table: 'rows' }, false)].map(({ key }) => key)).toEqual(['k']);
      const found = ['register', 'set'].flatMap((index) => [
        ...store.scan({ table: 'rows', field: index }, false),
      ]);
      expect(found.map(({ value }) => value)).toEqual(
        field === 'register' || field === 'set' ? ['b'] : [],
      );
    },
  );

  test('an earlier write of another site that arrives after the removal → is part of what was removed', () => {
    const store = createStore();
    store.apply(first, stampAt(1, HERE));
    store.apply(removal, stampAt(3, HERE));
    store.apply(second, stampAt(2, THERE));
    expect(store.has('rows', 'k')).toBe(false);
    expect(toPlain(store.read('rows', 'k', field))).toEqual(initial);
  });
});

test('fields of the red order: a later blue write brings the row back without them', () => {
  const store = new Store({ rows: table({ ...KINDS, ...RED_KINDS }, { removable: true }) });
  const red = [on('cell', 'assign', 'a'), on('queue', 'push', 'a'), on('stock', 'add', 3)];
  for (const effect of red) store.apply(effect, stampAt(1, HERE, RED));
  store.apply(removal, stampAt(2, HERE, RED));
  store.apply(on('register', 'write', 'b'), stampAt(3, THERE));
  expect(store.has('rows', 'k')).toBe(true);
  const { size } = store.read('rows', 'k', 'queue') as { readonly size: number };
  expect([store.read('rows', 'k', 'cell'), size, store.read('rows', 'k', 'stock')]).toEqual([
    undefined,
    0,
    0,
  ]);
  expect(store.read('rows', 'k', 'register')).toBe('b');
});
