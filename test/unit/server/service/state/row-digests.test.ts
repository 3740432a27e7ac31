/** Digests of rows: the same for rows that have converged, and different for all others. */
// @rule STO-39
import { describe, expect, test } from 'vitest';
import type { Effect, Stamp } from '../../../../../src/server/service/records/effect.ts';
import { RED, type Origin } from '../../../../../src/server/service/records/origin.ts';
import {
  NOT_DIGESTED,
  RowDigests,
  sumDigests,
} from '../../../../../src/server/service/state/row-digests.ts';
import { Store } from '../../../../../src/server/service/state/store.ts';
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
} from '../../../../../src/server/service/tables.ts';
import { siteAt } from '../../../../support/origins.ts';

const tables = {
  rows: table(
    {
      register: register<unknown>(),
      counter: counter(),
      set: set<string | number>(),
      log: log<unknown>(),
      cell: cell<unknown>(),
      queue: queue<unknown>(),
      stock: stock(),
    },
    { removable: true },
  ),
  kept: table({ counter: counter(), bounded: boundedCounter({ min: 0 }) }),
};
const [HERE, THERE] = [siteAt(0), siteAt(1)];

const stampAt = (version: number, site: Origin, entry: Origin = site): Stamp => ({
  time: version,
  site,
  entry,
  version,
  seen: [],
});
type Change = readonly [effect: Effect, stamp: Stamp];
const change = (
  [tableName, key, field, action, value]: readonly [string, string, string, string, unknown?],
  stamp: Stamp,
): Change => [{ table: tableName, key, field, action, value }, stamp];

function createStore(changes: readonly Change[]): Store {
  const store = new Store(tables);
  for (const [effect, stamp] of changes) store.apply(effect, stamp);
  return store;
}

const digestOf = (changes: readonly Change[], name = 'rows'): number =>
  new RowDigests(createStore(changes)).digest(name, 'a');

const write = (value: unknown): Change =>
  change(['rows', 'a', 'register', 'write', value], stampAt(1, HERE));

describe('rows that have converged', () => {
  test('changes in another order → the same digest', () => {
    const red = [
      change(['rows', 'a', 'queue', 'push', 'x'], stampAt(1, HERE, RED)),
      change(['rows', 'a', 'cell', 'assign', 5], stampAt(2, HERE, RED)),
      change(['rows', 'a', 'stock', 'add', 3], stampAt(3, THERE, RED)),
    ];
    const mine = [
      change(['rows', 'a', 'set', 'add', 'z'], stampAt(1, HERE)),
      change(['rows', 'a', 'counter', 'add', 2 ** 53 - 1], stampAt(2, HERE)),
      change(['rows', 'a', 'log', 'append', { at: new Date(5) }], stampAt(3, HERE)),
      change(['rows', 'a', 'register', 'write', 'mine'], stampAt(4, HERE)),
    ];
    const theirs = [
      change(['rows', 'a', 'set', 'add', 'y'], stampAt(1, THERE)),
      change(['rows', 'a', 'set', 'add', 7], stampAt(2, THERE)),
      change(['rows', 'a', 'counter', 'add', 2 ** 53 - 1], stampAt(3, THERE)),
      change(['rows', 'a', 'log', 'append', 'line'], stampAt(4, THERE)),
      change(['rows', 'a', 'register', 'write', 'theirs'], stampAt(4, THERE)),
    ];
    const digests = [
      [...red, ...mine, ...theirs],
      [...theirs, ...mine, ...red],
      [...mine, ...red, ...theirs],
    ].map((changes) => digestOf(changes));
    expect(new Set(digests).size).toBe(1);
  });

  test('a removal that only one site remembers → the same digest', () => {
    const removal = change(['rows', 'a', '', 'remove'], stampAt(2, HERE));
    const later = change(['rows', 'a', 'register', 'write', 'x'], stampAt(3, HERE));
    const forgetful = createStore([write('old'), removal, later]);
    const digests = new RowDigests(forgetful);
    const before = digests.digest('rows', 'a');
    forgetful.forgetRemovals([9, 9, 9]);
    expect(forgetful.getRemovalTimes()).toEqual([
      ['rows', []],
      ['kept', []],
    ]);
    expect([digests.digest('rows', 'a'), digestOf([later])]).toEqual([before, before]);
  });

  test('after a restart → the same digest', () => {
    const store = createStore([
      write([1, 'a']),
      change(['rows', 'a', 'queue', 'push', 'x'], stampAt(1, HERE, RED)),
      change(['rows', 'a', 'queue', 'push', 'y'], stampAt(2, HERE, RED)),
      change(['rows', 'a', 'queue', 'pop'], stampAt(3, HERE, RED)),
      change(['rows', 'a', 'set', 'add', 'z'], stampAt(4, HERE)),
    ]);
    store.closeChanges();
    const restored = new Store(tables);
    restored.restore(new Map(structuredClone(store.takeClosed(100))));
    expect(new RowDigests(restored).digest('rows', 'a')).toBe(
      new RowDigests(store).digest('rows', 'a'),
    );
  });

  test('names of an object in another order → the same digest', () => {
    expect(digestOf([write({ a: 1, b: [2n] })])).toBe(digestOf([write({ b: [2n], a: 1 })]));
  });
});

describe('other rows', () => {
  test('each value has a digest of its own', () => {
    const numbers = [0, 1, -1, 1.5, -1.5, 2 ** 40, 2 ** 53, 0n, 1n];
    const texts = ['', '0', '1', 'a', 'b', 'ab', 'ba'];
    const lists = [[], [[]], [null], [0], [1.5, -2.5], [-1.5, 2.5], ['a', 'b'], ['ab']];
    const maps = [{}, { a: 1 }, { a: 2 }, { b: 1 }, { a: { b: 1 } }];
    const bytes = [new Uint8Array(), Uint8Array.of(0), Uint8Array.of(0, 0), Uint8Array.of(1)];
    const dates = [new Date(0), new Date(1)];
    const values: readonly unknown[] = [true, false, null].concat(
      ...([numbers, texts, lists, maps, bytes, dates] as never[]),
    );
    expect(new Set(values.map((value) => digestOf([write(value)]))).size).toBe(values.length);
  });

  test('rights that another site has → another digest', () => {
    const give = change(['kept', 'a', 'bounded', 'give', 5], stampAt(1, HERE));
    const transfer = (to: Origin): Change =>
      change(['kept', 'a', 'bounded', 'transfer', { to, amount: 2 }], stampAt(2, HERE));
    expect(digestOf([give, transfer(THERE)], 'kept')).not.toBe(
      digestOf([give, transfer(RED)], 'kept'),
    );
  });

  test('many rows → no two have the same digest', () => {
    const digests = new Set<number>();
    for (let index = 0; index < 20_000; index += 1) {
      const effect = change(['rows', 'a', 'counter', 'add', index], stampAt(1, HERE));
      digests.add(digestOf([effect]));
    }
    expect(digests.size).toBe(20_000);
    for (const digest of digests) expect(digest < 2 ** 52 && digest > 0).toBe(true);
  });
});

test('these digests → other sites compute the same ones, so they never change', () => {
  expect([digestOf([write('text')]), digestOf([write({ list: [1, -1.5, null, 7n] })])]).toEqual([
    2943461818630230, 2609995272889698,
  ]);
});

describe('ranges', () => {
  const KEYS = ['a', 'b', 'c', 'd', 'e'];
  const store = createStore(
    KEYS.map((key) => change(['kept', key, 'counter', 'add', 1], stampAt(1, HERE))),
  );

  test('more rows than fit into one turn → the range ends before the next one', () => {
    const digests = new RowDigests(store, 2);
    expect(digests.findEnd({ table: 'kept' })).toBe('c');
    expect(digests.findEnd({ table: 'kept', from: 'c' })).toBe('e');
    expect(digests.findEnd({ table: 'kept', from: 'e' })).toBeUndefined();
    expect(digests.findEnd({ table: 'kept', from: 'b', before: 'c' })).toBe('c');
    expect([...digests.collect({ table: 'kept', from: 'b', before: 'd' }).keys()]).toEqual([
      'b',
      'c',
    ]);
  });

  test('the parts of a table → their sums add up to that of all', () => {
    const digests = new RowDigests(store);
    const sumOf = (from: string, before: string): number =>
      sumDigests(digests.collect({ table: 'kept', from, before }).values());
    expect(sumDigests([sumOf('d', 'z'), sumOf('a', 'c'), sumOf('c', 'd')])).toBe(sumOf('a', 'z'));
  });

  test('rows with many bytes → fewer of them in a range', () => {
    const large = createStore(
      KEYS.map((key) =>
        change(['rows', key, 'register', 'write', 'x'.repeat(600_000)], stampAt(1, HERE)),
      ),
    );
    expect(new RowDigests(large).findEnd({ table: 'rows' })).toBe('c');
  });

  test('a row that is too large for one turn, or its key → it is not digested', () => {
    const large = createStore([
      write('x'.repeat(1_200_000)),
      change(['rows', 'k'.repeat(5000), 'counter', 'add', 1], stampAt(1, HERE)),
    ]);
    const found = new RowDigests(large).collect({ table: 'rows' });
    expect([...found]).toEqual([['a', NOT_DIGESTED]]);
  });

  test('a counter that remembers many additions → it is digested, as its sum is small', () => {
    const many = Array.from({ length: 5000 }, (_, index) =>
      change(['rows', 'a', 'counter', 'add', 1], stampAt(index + 1, HERE)),
    );
    expect(digestOf(many)).not.toBe(NOT_DIGESTED);
  });
});
