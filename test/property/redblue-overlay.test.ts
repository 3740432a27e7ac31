/** Effects in flight, laid over a store, show what the store would if they were applied; they come and go. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { structurallyEqual } from '../../src/correctable/equal.ts';
import type { Effect } from '../../src/server/records/effect.ts';
import { insertEffect, isRemoval, removeEffect } from '../../src/server/service/row-effects.ts';
import { counter, queue, register, stock, table } from '../../src/server/service/tables.ts';
import { Overlay } from '../../src/server/state/overlay.ts';
import { Store } from '../../src/server/state/store.ts';
import { siteAt } from '../support/origins.ts';
import { sharesOf, unnoted, type Note } from '../support/shares.ts';

const tables = {
  rows: table(
    { n: counter(), title: register<string>(), items: queue<string>(), left: stock() },
    { indexes: ['title'], removable: true },
  ),
};
const on = (key: string, field: string, action: string, value?: unknown): Effect => ({
  table: 'rows',
  key,
  field,
  action,
  value,
});
const someEffect = fc
  .tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('x', 'y'), fc.nat(9))
  .map(
    ([key, value, kind]): Effect =>
      [
        on(key, 'n', 'add', 1),
        on(key, 'title', 'write', value),
        on(key, 'items', 'push', value),
        on(key, 'items', 'pop'),
        insertEffect('rows', key),
        removeEffect('rows', key),
        removeEffect('rows', key),
        on(key, 'n', 'add', 3),
        on(key, 'left', 'add', 2),
        on(key, 'left', 'take', { amount: 1, atLeast: 1 }),
      ][kind] as Effect,
  );
const operations = fc.array(fc.array(someEffect, { minLength: 1, maxLength: 3 }), { maxLength: 6 });
const shown = (state: Store | Overlay): unknown => [
  ...['a', 'b', 'c'].map((key) => {
    const { size, at } = state.read('rows', key, 'items') as { size: number; at(index: number): unknown };
    const items = Array.from({ length: size }, (_, index) => at.call(state.read('rows', key, 'items'), index));
    return [
      state.has('rows', key),
      state.read('rows', key, 'n'),
      state.read('rows', key, 'title'),
      state.read('rows', key, 'left'),
      items,
    ];
  }),
  [...state.scan({ table: 'rows' }, false)],
  [...state.scan({ table: 'rows', from: 'b' }, true)],
  [...state.scan({ table: 'rows', field: 'title' }, false)],
];

const overlaid = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(operations, operations, fc.nat(6), (committed, pending, gone) => {
    let time = 0;
    const apply = (store: Store, effects: readonly Effect[]): void => {
      time += 1;
      const stamp = { time, site: siteAt(0), entry: siteAt(0), version: time, seen: [0, time] };
      for (const effect of effects) store.apply(effect, stamp);
    };
    const store = new Store(tables);
    const expected = new Store(tables);
    for (const effects of committed) for (const each of [store, expected]) apply(each, effects);
    const overlay = new Overlay(tables, store);
    for (const [owner, effects] of pending.entries()) overlay.add(owner, effects);
    if (gone < pending.length) overlay.remove(gone, pending[gone] ?? []);
    for (const [owner, effects] of pending.entries()) if (owner !== gone) apply(expected, effects);
    const over = shown(overlay);
    expect(over).toEqual(shown(expected));
    for (const [owner, effects] of pending.entries()) if (owner !== gone) overlay.remove(owner, effects);
    expect(overlay.isEmpty).toBe(true);
    expect(shown(overlay)).toEqual(shown(store));
    if (gone < pending.length) note('one of those in flight is gone');
    if (!structurallyEqual(over, shown(store))) note('the overlay shows something else than the store');
    if (pending.flat().some(isRemoval) && committed.length > 0) note('a removal in flight');
  });

test('effects in flight that come and go → as if applied to the store', async () => {
  await fc.assert(overlaid(unnoted), { numRuns: 1000 });
});

test('what is in flight → changes what is shown, and goes before the others', async () => {
  const shares = await sharesOf(overlaid);
  expect(shares['the overlay shows something else than the store']).toBeGreaterThan(0.6);
  for (const what of ['one of those in flight is gone', 'a removal in flight']) {
    expect(shares[what], what).toBeGreaterThan(0.3);
  }
});
